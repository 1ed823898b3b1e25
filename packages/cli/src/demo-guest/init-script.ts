/**
 * The demo guest's init: loads its drivers, says hello on the serial console (with the words it finds on its disk, when it
 * has one), reacts to the power button, and leaves a shell.
 */
export const initScript = `#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev 2>/dev/null
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root PS1='\\h:\\w\\$ '
mkdir -p /dev/pts /dev/virtio-ports /run /tmp /mnt
mount -t devpts devpts /dev/pts

for module in $(cat /modules/order); do
  insmod /modules/$module || echo "cannot load $module"
done

name=guest
for word in $(cat /proc/cmdline); do
  case $word in hostname=*) name=\${word#hostname=} ;; esac
done
hostname "$name"
ip link set lo up

# /dev/virtio-ports/NAME is udev's work elsewhere.
for port in /sys/class/virtio-ports/*; do
  [ -s "$port/name" ] && ln -sf "/dev/\${port##*/}" "/dev/virtio-ports/$(cat "$port/name")"
done

acpid -l /dev/null

{
  echo "Hello from $name: Linux $(uname -r) on $(uname -m), $(grep -c ^processor /proc/cpuinfo) CPU, $(awk '/MemTotal/{print $2}' /proc/meminfo) kB of memory."
  if [ -b /dev/vda ] && mount -o ro /dev/vda /mnt 2>/dev/null; then
    [ -f /mnt/greeting ] && cat /mnt/greeting
  fi
  echo "Polyvirt guest is ready."
} > /run/greeting
echo
cat /run/greeting
while :; do
  setsid cttyhack sh
done
`;

/** Run by acpid when the host presses the guest's power button. */
export const powerButtonScript = `#!/bin/busybox sh
echo "Power button pressed, shutting down." > /dev/console
/bin/busybox sync
/bin/busybox poweroff -f
`;
