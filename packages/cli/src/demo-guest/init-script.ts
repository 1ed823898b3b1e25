/**
 * The demo guest's init: loads its drivers, takes an address by DHCP, serves its name over HTTP, says hello on the console
 * (with the words it finds on its disks), reacts to the power button, and leaves a shell.
 *
 * Words of the kernel command line: `hostname=NAME`, and `demo.count` to print the uptime every second.
 * Of a cloud-init disk it takes the name, and the user data when they are a script.
 */
export const initScript = `#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev 2>/dev/null
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/sbin HOME=/root PS1='\\h:\\w\\$ '
mkdir -p /dev/pts /dev/virtio-ports /run /tmp /mnt
mount -t devpts devpts /dev/pts

for module in $(cat /modules/order); do
  insmod /modules/$module 2>>/run/insmod.log
done

# /dev/virtio-ports/NAME is udev's work elsewhere.
for port in /sys/class/virtio-ports/*; do
  [ -s "$port/name" ] && ln -sf "/dev/\${port##*/}" "/dev/virtio-ports/$(cat "$port/name")"
done

# Every disk that can be mounted is at /mnt/DEVICE, read-only.
for device in vda vda1 vdb vdb1 vdc vdd vde vdf vdg sda sda1 sdb sdc sr0; do
  [ -b /dev/$device ] || continue
  mkdir -p /mnt/$device
  mount -o ro /dev/$device /mnt/$device 2>/dev/null || rmdir /mnt/$device
done

name=guest
for config in /mnt/*/meta-data /mnt/*/openstack/latest/meta_data.json; do
  [ -f "$config" ] || continue
  given=$(sed -n 's/.*"local[-_]hostname": *"\\([^"]*\\)".*/\\1/p' "$config")
  [ -n "$given" ] && name=$given
done
for word in $(cat /proc/cmdline); do
  case $word in
    hostname=*) name=\${word#hostname=} ;;
    demo.count) count=yes ;;
  esac
done
hostname "$name"
ip link set lo up
[ -e /dev/input ] && acpid -l /dev/null
/etc/power-line &

echo "$name $(cat /etc/demo-arch)" > /www/index.html
httpd -p 80 -h /www
for interface in /sys/class/net/e*; do
  [ -e "$interface" ] && udhcpc -f -i "\${interface##*/}" -s /etc/udhcpc.script -x hostname:"$name" >/run/udhcpc.log 2>&1 &
done

if [ -x /usr/sbin/qemu-ga ] && [ -e /dev/virtio-ports/org.qemu.guest_agent.0 ]; then
  mkdir -p /var/run /usr/local/var/run
  qemu-ga -d -m virtio-serial -p /dev/virtio-ports/org.qemu.guest_agent.0 -f /run/qemu-ga.pid -l /run/qemu-ga.log
fi

{
  echo "Hello from $name: Linux $(uname -r) on $(uname -m) ($(cat /etc/demo-arch)), $(grep -c '^processor' /proc/cpuinfo) CPU, $(awk '/MemTotal/{print $2}' /proc/meminfo) kB of memory."
  cat /mnt/*/greeting 2>/dev/null
  echo "Polyvirt guest is ready."
} > /run/greeting
echo
cat /run/greeting
for script in /mnt/*/user-data /mnt/*/openstack/latest/user_data; do
  [ -f "$script" ] && [ "$(head -c 2 "$script")" = "#!" ] && sh "$script" 2>&1 | tee -a /run/greeting
done
[ -n "$count" ] && while :; do echo "uptime $(cut -d' ' -f1 /proc/uptime)"; sleep 1; done
while :; do
  setsid cttyhack sh
done
`;

/**
 * Without firmware tables, the power button of QEMU's `virt` machine is a line of a GPIO chip, and Debian's cloud kernel has
 * no driver that makes a key of it. A press lasts a tenth of a second; the kernel counts it as an interrupt, which can be
 * read at leisure. Only builtins of the shell in the loop: a guest that idles should cost nothing.
 */
export const powerLineScript = `#!/bin/busybox sh
for chip in /sys/class/gpio/gpiochip*; do
  case $(cat "$chip/label" 2>/dev/null) in *pl061) ;; *) continue ;; esac
  line=$(($(cat "$chip/base") + 3))
  # Refused where a driver has the line: then there is a key, and acpid hears it.
  (echo $line > /sys/class/gpio/export) 2>/dev/null || exit 0
  echo rising > /sys/class/gpio/gpio$line/edge
  mkfifo /run/never
  while :; do
    read -r -t 1 _ <>/run/never
    while read -r _ counts; do
      case $counts in *gpiolib*) ;; *) continue ;; esac
      for count in $counts; do
        case $count in
          0) ;;
          *[!0-9]*) break ;;
          *) exec /etc/acpi/PWRF/00000080 ;;
        esac
      done
    done < /proc/interrupts
  done
done
`;

/** Run by acpid when the host presses the guest's power button. */
export const powerButtonScript = `#!/bin/busybox sh
echo "Power button pressed, shutting down." > /dev/console
/bin/busybox sync
/bin/busybox poweroff -f
`;

/** What the guest agent calls when the host asks it to shut down or reboot. */
export const shutdownScript = `#!/bin/busybox sh
echo "The guest agent was asked to shut down." > /dev/console
/bin/busybox sync
case "$*" in
  *-r*) exec /bin/busybox reboot -f ;;
  *) exec /bin/busybox poweroff -f ;;
esac
`;

/** What the guest agent calls to set a password, with lines USER:PASSWORD; Debian's busybox has none. */
export const passwordScript = `#!/bin/busybox sh
while IFS=: read -r user password; do
  grep -q "^$user:" /etc/shadow || { echo "chpasswd: there is no user $user" >&2; exit 1; }
  hash=$(httpd -m "$password") || exit 1
  awk -F: -v OFS=: -v user="$user" -v hash="$hash" '$1 == user { $2 = hash } { print }' /etc/shadow > /run/shadow
  cat /run/shadow > /etc/shadow
  rm /run/shadow
done
`;

/** Called by udhcpc with what the DHCP server offers. */
export const dhcpScript = `#!/bin/busybox sh
case $1 in
  bound | renew)
    ip addr flush dev $interface
    ip addr add $ip/\${mask:-24} dev $interface
    [ -n "$mtu" ] && ip link set $interface mtu $mtu
    for gateway in $router; do
      ip route add $gateway dev $interface 2>/dev/null
      ip route add default via $gateway dev $interface
    done
    : > /etc/resolv.conf
    for server in $dns; do echo "nameserver $server" >> /etc/resolv.conf; done
    [ $1 = bound ] && echo "$interface has the address $ip." > /dev/console
    ;;
  deconfig)
    ip link set $interface up
    ;;
esac
exit 0
`;

/** Answers http://GUEST/cgi-bin/uptime. */
export const uptimeScript = `#!/bin/busybox sh
printf 'Content-Type: text/plain\\r\\n\\r\\n'
cut -d' ' -f1 /proc/uptime
`;
