#!/bin/sh
# Boots one node. Runs as PID 1 of fresh network, UTS, IPC, PID and mount namespaces.
# usage: boot.sh NODE_DIRECTORY   (see nodes.py, which writes everything found there)
set -eu
dir=$1

# First of all say who we are, so that whoever comes later can end us. /proc is still the
# outer one: it tells the outer pid. The name in the second field, "(sh)", has no blank.
read -r stat </proc/self/stat
set -- $stat
echo "$1 ${22}" >"$dir/pid.new"
mv "$dir/pid.new" "$dir/pid"

. "$dir/boot.env" # NAME CGROUP CGROUP_KIND BYTES_PER_SECOND

# 0 means "the writer" whatever its pid is called on the outside.
[ -z "$CGROUP" ] || echo 0 >"$CGROUP/cgroup.procs" || echo "no disk cgroup" >&2
hostname "$NAME"

# A whole root for the price of its changes.
mount -t tmpfs -o size=192m,mode=755 lab-root "$dir/root"
cd "$dir/root"
mkdir upper work merged
mount -t overlay lab-overlay \
  -o "lowerdir=/,upperdir=$dir/root/upper,workdir=$dir/root/work" merged
cd merged

mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs -o size=16m,mode=755 lab-run run
mount -t tmpfs -o size=64m,mode=1777 lab-tmp tmp
mkdir -p run/sshd run/lock

mount -t tmpfs -o size=64k,mode=755 lab-dev dev
mkdir dev/pts dev/shm
for device in null zero full random urandom tty; do
  : >"dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
# Without an instance of its own, terminals of all nodes would mix.
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o size=16m,mode=1777 lab-shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr

# The scratch disk. Detached at once: the device lasts as long as the mount and no longer.
mkdir -p scratch
loop=$(flock "$dir/../loop.lock" losetup -f --show "$dir/scratch.img")
mount "$loop" scratch || { losetup -d "$loop"; exit 1; }
losetup -d "$loop"
number=$(cat "/sys/block/${loop#/dev/}/dev")
echo "$loop $number" >"$dir/loop"
case $CGROUP_KIND in
v1)
  echo "$number $BYTES_PER_SECOND" >"$CGROUP/blkio.throttle.read_bps_device" &&
    echo "$number $BYTES_PER_SECOND" >"$CGROUP/blkio.throttle.write_bps_device" &&
    : >"$dir/throttled"
  ;;
v2)
  echo "$number rbps=$BYTES_PER_SECOND wbps=$BYTES_PER_SECOND" >"$CGROUP/io.max" &&
    : >"$dir/throttled"
  ;;
esac || true

# What makes this machine this node.
rm -f etc/ssh/ssh_host_*
cp -R "$dir/../common/etc/." etc/
install -m 600 "$dir/host_key" etc/ssh/ssh_host_ed25519_key
install -m 644 "$dir/host_key.pub" etc/ssh/ssh_host_ed25519_key.pub
echo "$NAME" >etc/hostname
tr -d - </proc/sys/kernel/random/uuid >etc/machine-id
# An account locked with "!" is refused by sshd even for keys; "*" only has no password.
sed -i 's/^root:[^:]*:/root:*:/' etc/shadow
# ssh takes a key only from its owner.
mkdir -p home/bench
chown 5001:5001 home/bench etc/ssh/lab_identity_bench
# All nodes share one kernel; a boot id of its own is what tells that a node rebooted.
cat /proc/sys/kernel/random/uuid >run/boot_id
mount --bind run/boot_id proc/sys/kernel/random/boot_id
echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 || true
# bbr, the default of some kernels, starves neighbours behind a shallow queue (2 against 90
# Mbit/s); reno shares evenly and is allowed in every namespace.
echo reno >/proc/sys/net/ipv4/tcp_congestion_control || true

while read -r mask; do
  mkdir -p ".$mask"
  mount -t tmpfs -o size=4m,mode=700 lab-mask ".$mask"
done <"$dir/masks"

mkdir .old
pivot_root . .old
cd /
umount -l /.old
rmdir /.old

# The loop reaps what is orphaned in this PID namespace and starts a listener that ended
# again. Output goes nowhere: the outer log file must not be held by a running node.
exec sh -c '
exec </dev/null >/dev/null 2>&1
while :; do
  /usr/sbin/sshd -D -E /var/log/sshd.log -f /etc/ssh/sshd_config || sleep 0.2
done' init
