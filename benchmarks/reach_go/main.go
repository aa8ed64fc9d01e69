// The limit beside asyncssh for reach.py: the SSH client of golang.org/x/crypto, with nothing around it.
//
//	reach-go DIRECTORY [once]
//
// It logs in to the hosts of DIRECTORY, runs one command on each, and then the command three times more on the open
// connections, and as often one that says 20 kB; it prints what that cost as JSON. With "once" it prints a line for each host that answered, and ends.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	repeats = 3
	connect = 10 * time.Second

	small = "echo reached"
	large = "seq -w 4000"
	size  = 20_000

	exchange = "curve25519-sha256"
	cipher   = "aes128-gcm@openssh.com"
)

func main() {
	directory, once := os.Args[1], len(os.Args) > 2
	config, port := configure(directory), strings.TrimSpace(read(directory, "port"))
	hosts := strings.Fields(read(directory, "hosts"))
	resting, started, used := private(), time.Now(), cpu()
	forks, err := strconv.Atoi(strings.TrimSpace(read(directory, "forks")))
	must(err)
	clients := login(hosts, port, config, forks, once)
	if once {
		return
	}
	told := map[string]float64{
		"wall": time.Since(started).Seconds(), "cpu": cpu() - used, "reached": float64(len(clients)),
		"memory": private(), "connection": (private() - resting) / float64(len(clients)),
	}
	started, used = time.Now(), cpu()
	for turn := 0; turn < repeats; turn++ {
		again(clients, small, []byte("reached\n"))
	}
	told["again_wall"], told["again_cpu"] = time.Since(started).Seconds()/repeats, (cpu()-used)/repeats
	used = cpu()
	for turn := 0; turn < repeats; turn++ {
		again(clients, large, nil)
	}
	told["large_cpu"] = (cpu() - used) / repeats
	text, err := json.Marshal(told)
	must(err)
	fmt.Println(string(text))
}

// configure reads each key once. One cipher and one exchange are offered: a login shows that they were used.
func configure(directory string) *ssh.ClientConfig {
	key, err := ssh.ParsePrivateKey([]byte(read(directory, "key")))
	must(err)
	host, _, _, _, err := ssh.ParseAuthorizedKey([]byte(read(directory, "host.pub")))
	must(err)
	user := "root"
	if _, err := os.Stat(filepath.Join(directory, "farm")); err == nil {
		user = "bench"
	}
	return &ssh.ClientConfig{
		Config:            ssh.Config{KeyExchanges: []string{exchange}, Ciphers: []string{cipher}},
		User:              user,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(key)},
		HostKeyCallback:   ssh.FixedHostKey(host),
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
	}
}

// login opens a connection to each host and runs the command there, so many at once; the connections that answered.
func login(hosts []string, port string, config *ssh.ClientConfig, forks int, tell bool) []*ssh.Client {
	var lock sync.Mutex
	var over sync.WaitGroup
	var clients []*ssh.Client
	turns := make(chan struct{}, forks)
	for _, host := range hosts {
		turns <- struct{}{}
		over.Add(1)
		go func(host string) {
			defer func() { <-turns; over.Done() }()
			client, err := open(net.JoinHostPort(host, port), config)
			if err == nil {
				err = run(client, small, []byte("reached\n"))
			}
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", host, err)
				return
			}
			lock.Lock()
			defer lock.Unlock()
			clients = append(clients, client)
			if tell {
				fmt.Printf("%s: reached\n", host)
			}
		}(host)
	}
	over.Wait()
	return clients
}

// open has ten seconds for everything up to the login, as the rivals have.
func open(address string, config *ssh.ClientConfig) (*ssh.Client, error) {
	socket, err := net.DialTimeout("tcp", address, connect)
	if err != nil {
		return nil, err
	}
	must(socket.SetDeadline(time.Now().Add(connect)))
	connection, channels, requests, err := ssh.NewClientConn(socket, address, config)
	if err != nil {
		socket.Close()
		return nil, err
	}
	must(socket.SetDeadline(time.Time{}))
	return ssh.NewClient(connection, channels, requests), nil
}

// run takes any output of the right size where none is wanted.
func run(client *ssh.Client, command string, wanted []byte) error {
	session, err := client.NewSession()
	if err != nil {
		return err
	}
	defer session.Close()
	output, err := session.Output(command)
	if err == nil && (wanted == nil && len(output) != size || wanted != nil && !bytes.Equal(output, wanted)) {
		err = fmt.Errorf("said %d bytes", len(output))
	}
	return err
}

func again(clients []*ssh.Client, command string, wanted []byte) {
	var over sync.WaitGroup
	for _, client := range clients {
		over.Add(1)
		go func(client *ssh.Client) {
			defer over.Done()
			must(run(client, command, wanted))
		}(client)
	}
	over.Wait()
}

func read(directory, name string) string {
	content, err := os.ReadFile(filepath.Join(directory, name))
	must(err)
	return string(content)
}

// private is the private memory of this process in bytes.
func private() float64 {
	var size, resident, shared float64
	content, err := os.ReadFile("/proc/self/statm")
	must(err)
	_, err = fmt.Sscan(string(content), &size, &resident, &shared)
	must(err)
	return (resident - shared) * float64(os.Getpagesize())
}

func cpu() float64 {
	var used syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "reach-go:", err)
		os.Exit(1)
	}
}
