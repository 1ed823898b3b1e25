#!/bin/sh
# libvirtd.sh FOLDER: a libvirt of one's own, without systemd and apart from the machine's. All that it reads and writes is in
# FOLDER, which it sees in place of the usual ones; it listens on FOLDER/run/libvirt-sock. Runs until it is killed.
set -eu
folder=$1
for pair in etc:/etc/libvirt run:/run/libvirt lib:/var/lib/libvirt cache:/var/cache/libvirt log:/var/log/libvirt; do
  mkdir -p "$folder/${pair%%:*}" "${pair#*:}"
  mount --bind "$folder/${pair%%:*}" "${pair#*:}"
done
# The account that libvirt looks for comes with a package of the distribution that a test does not need otherwise.
for pair in passwd:64055:0::/nonexistent:/usr/sbin/nologin group:64055:; do
  kind=${pair%%:*}
  if ! getent "$kind" libvirt-qemu >/dev/null; then
    { cat "/etc/$kind"; echo "libvirt-qemu:x:${pair#*:}"; } >"$folder/$kind"
    mount --bind "$folder/$kind" "/etc/$kind"
  fi
done
# Huge pages for guests that cannot have them from memfd; a machine without them only defines fewer guests.
mkdir -p /dev/hugepages && mount -t hugetlbfs hugetlbfs /dev/hugepages || true
# At its first start it runs every emulator in PATH to learn what it can do: only those that are needed are there.
# Its lock is in the folder, too: several run at the same time.
PATH="$folder/bin:/usr/sbin:/sbin" exec libvirtd --pid-file "$folder/libvirtd.pid"
