// Distance for reach.py: a relay that hands on what comes after a while, in both directions.
//
//	reach-relay PORT TO MILLISECONDS
//
// It listens at PORT of every address of this machine and connects to port TO of the address that was dialled. Each
// byte arrives half of the milliseconds after it was sent, so that an answer takes all of them.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

const (
	size    = 32 * 1024
	waiting = 64 // pieces that are under way in one direction of a connection
)

type piece struct {
	data []byte
	due  time.Time
}

func main() {
	milliseconds, err := strconv.Atoi(os.Args[3])
	must(err)
	half := time.Duration(milliseconds) * time.Millisecond / 2
	listener, err := net.Listen("tcp", "0.0.0.0:"+os.Args[1])
	must(err)
	fmt.Println("ready")
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		near, err := listener.Accept()
		must(err)
		go join(near, os.Args[2], half)
	}
}

func join(near net.Conn, port string, half time.Duration) {
	host, _, err := net.SplitHostPort(near.LocalAddr().String())
	must(err)
	far, err := net.Dial("tcp", net.JoinHostPort(host, port))
	if err != nil {
		near.Close()
		return
	}
	go carry(near, far, half)
	go carry(far, near, half)
}

// carry ends the other side when one has ended, after the last of its bytes.
func carry(from, to net.Conn, half time.Duration) {
	pieces := make(chan piece, waiting)
	go func() {
		for each := range pieces {
			time.Sleep(time.Until(each.due))
			if _, err := to.Write(each.data); err != nil {
				break
			}
		}
		to.Close()
		for range pieces {
		}
	}()
	for {
		data := make([]byte, size)
		read, err := from.Read(data)
		if read > 0 {
			pieces <- piece{data[:read], time.Now().Add(half)}
		}
		if err != nil {
			break
		}
	}
	close(pieces)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "reach-relay:", err)
		os.Exit(1)
	}
}
