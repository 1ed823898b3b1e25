/**
 * The two shell programs that stand between the kubelet and a container's command. They are constant text: everything
 * that comes from a pod arrives in environment variables named PV_…, is expanded inside double quotes only, and `eval`
 * sees nothing but our own variable names with numbers in them. The pod's environment itself travels as PV_ENV_0 … and
 * becomes an environment in the last `exec`, so that an LD_PRELOAD or PATH of the pod never reaches a program that runs
 * outside of the container.
 *
 * Files in the container's directory (PV_DIR), each written by one side only:
 *   shim         /proc/self/stat of the outer shell: who watches the container
 *   init         /proc/self/stat of the container's first process, in the machine's process ids
 *   ready        non-empty once the command is about to be executed
 *   setup-error  why the container could not be set up, when `ready` is empty
 *   exit         the exit code, once the container has ended
 */

/**
 * Outlives the program that started it, waits for the container and records its exit code. It runs in the container's new
 * mount namespace but outside of its process namespace: the first process that it starts is the container's first one.
 * The exit file is opened before, because the change of the root below is a change for this shell as well.
 */
export const outerShim = `
set -u
PATH=/usr/sbin:/usr/bin:/sbin:/bin
read -r stat </proc/self/stat
printf '%s\\n' "$stat" >"$PV_DIR/shim"
exec 4>&2 2>"$PV_DIR/shim-log" 8>"$PV_DIR/exit"
# What is typed at a container's terminal is for the container; this shell goes on waiting for it.
trap : INT QUIT HUP TSTP
(exec /bin/sh -c "$PV_INNER" container 2>&4 4>&- 8>&-)
printf '%s\\n' "$?" >&8
exit 0
`;

/**
 * Builds the container's view of the machine and becomes its command.
 *
 * SAFETY: volumes are bound to staging places while the machine's root is still there; then the root is changed and the
 * old one detached; only then mount points are made and the volumes bound to them. A symlink that a pod left in a volume
 * can therefore lead no further than the container's own root. A volume that names an inode (PV_MOUNT_n_INODE) was opened
 * without following symlinks before; what got mounted has to be that very file.
 */
export const innerShim =
  `
set -u
PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec 5>"$PV_DIR/ready" 6>&2 2>"$PV_DIR/setup-error"
fail() { printf '%s\\n' "$1" >&2; exit "\${2:-125}"; }
must() { "$@" || fail "failed: $*"; }
# Without being root, nothing can be made in a directory that belongs to another user of the machine. It is replaced by an
# empty one whose entries lead to those of the machine's.
lowers=0
own_directory() {
  must mkdir -p "/.machine/$lowers"
  must mount --rbind "$1" "/.machine/$lowers"
  must mount -t tmpfs -o mode=755 tmpfs "$1"
  for entry in "/.machine/$lowers"/* "/.machine/$lowers"/.[!.]*; do
    if [ -e "$entry" ] || [ -h "$entry" ]; then must ln -s "$entry" "$1/\${entry##*/}"; fi
  done
  lowers=$((lowers + 1))
}
make_directory() {
  mkdir -p -- "$1" 2>/dev/null && return
  parent=$1
  while [ ! -d "$parent" ]; do parent=\${parent%/*}; done
  [ "$PV_ROOTLESS" != 1 ] || own_directory "$parent"
  must mkdir -p -- "$1"
}
make_file() {
  [ -d "\${1%/*}/" ] || make_directory "\${1%/*}/"
  (: >"$1") 2>/dev/null && return
  [ "$PV_ROOTLESS" != 1 ] || own_directory "\${1%/*}"
  : >"$1" || fail "failed: make the mount point $1"
}
read -r stat </proc/self/stat
printf '%s\\n' "$stat" >"$PV_DIR/init"
i=0
while [ $i -lt "$PV_GROUPS" ]; do
  eval "group=\\$PV_GROUP_$i"
  printf 0 >"$group/cgroup.procs" || fail "failed: join the control group $group"
  i=$((i + 1))
done

if [ -n "$PV_HOSTNAME" ]; then
  (printf '%s' "$PV_HOSTNAME" >/proc/sys/kernel/hostname) 2>/dev/null || must hostname "$PV_HOSTNAME"
fi

# With volumes whose mounts go both ways, this namespace still shares everything with the machine: nothing may be mounted
# before what it is mounted on is private, and the volumes have to be taken before everything else becomes private, too.
[ "$PV_SHARES" -eq 0 ] || must mount --make-private "$(findmnt -n -o TARGET -T "$PV_DIR")"
must mount -t tmpfs -o mode=755 tmpfs "$PV_DIR/root"
must cd "$PV_DIR/root"
must mkdir upper work root
if [ "$PV_SHARES" -gt 0 ]; then
  i=0
  while [ $i -lt "$PV_SHARES" ]; do
    eval "source=\\$PV_SHARE_$i"
    must mkdir "shared-$i"
    must mount --rbind "$source" "shared-$i"
    i=$((i + 1))
  done
  here=$(pwd -P)
  while read -r _ _ _ _ place _; do
    case $place in
    "$here"/shared-*) ;;
    *) must mount --make-private "$(printf '%b' "$place")" ;;
    esac
  done </proc/self/mountinfo
fi
if [ "$PV_ROOTLESS" = 1 ]; then
  # Without being root on the machine, "/" itself cannot be a lower directory because of what is mounted below it.
  must mount --bind root root
  for place in /*; do
    name=\${place#/}
    case $name in
    proc | sys | dev | run) must mkdir "root/$name" ;;
    *[,:]*) ;;
    *)
      if [ -h "$place" ]; then
        must cp -P "$place" "root/$name"
      elif [ -d "$place" ]; then
        must mkdir "root/$name" "upper-$name" "work-$name"
        mount -t overlay overlay -o "lowerdir=$place,upperdir=upper-$name,workdir=work-$name" "root/$name" 2>/dev/null ||
          must mount --rbind "$place" "root/$name"
      fi
      ;;
    esac
  done
else
  must mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
fi
i=0
while [ $i -lt "$PV_LOWERS" ]; do
  eval "lower=\\$PV_LOWER_$i"
  must mkdir "upper-$i" "work-$i"
  exec 7<"$lower"
  mount -t overlay overlay -o "lowerdir=/proc/self/fd/7,upperdir=upper-$i,workdir=work-$i" "root$lower" ||
    must mount -o bind,ro "$lower" "root$lower"
  exec 7<&-
  i=$((i + 1))
done
must cd root

# Staging places for the volumes: directories in one go, files one by one.
set -- .polyvirt/old
i=0
while [ $i -lt "$PV_MOUNTS" ]; do
  eval "kind=\\$PV_MOUNT_\${i}_KIND"
  [ "$kind" != directory ] || set -- "$@" ".polyvirt/$i"
  i=$((i + 1))
done
must mkdir -p "$@"
set --
i=0
while [ $i -lt "$PV_MOUNTS" ]; do
  eval "kind=\\$PV_MOUNT_\${i}_KIND"
  [ "$kind" = directory ] || : >".polyvirt/$i"
  set -- "$@" "/.polyvirt/$i"
  i=$((i + 1))
done
must mount -a -T "$PV_DIR/mounts-stage"
if [ "$PV_PRIVILEGED" != 1 ]; then
  if [ "$PV_ROOTLESS" = 1 ]; then
    must mkdir dev/pts dev/shm
    must mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts dev/pts
    must mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs dev/shm
    for name in null zero full random urandom tty; do
      : >"dev/$name"
      must mount --bind "/dev/$name" "dev/$name"
    done
  else
    must cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty dev/
    i=0
    while [ $i -lt "$PV_DEVICES" ]; do
      eval "source=\\$PV_DEVICE_$i target=\\$PV_DEVICE_TARGET_$i"
      [ -d ".\${target%/*}" ] || must mkdir -p ".\${target%/*}"
      must cp -a -L "$source" ".$target"
      i=$((i + 1))
    done
  fi
  must ln -s pts/ptmx /proc/self/fd dev/
  must ln -s /proc/self/fd/0 dev/stdin
  must ln -s /proc/self/fd/1 dev/stdout
  must ln -s /proc/self/fd/2 dev/stderr
fi
i=0
while [ $i -lt "$PV_MOUNTS" ]; do
  eval "source=\\$PV_MOUNT_\${i}_SOURCE inode=\\$PV_MOUNT_\${i}_INODE"
  if [ -n "$inode" ] && [ "$(stat -c %d:%i ".polyvirt/$i")" != "$inode" ]; then
    fail "volume source $source was exchanged while it was being mounted"
  fi
  i=$((i + 1))
done

exec 7<"$PV_DIR/mounts-directories" 9<"$PV_DIR/mounts-files"
must pivot_root . .polyvirt/old
must cd /
must umount -l /.polyvirt/old
[ $# -eq 0 ] || [ "$PV_ROOTLESS" = 1 ] || must mount -a -T /proc/self/fd/7
files=
i=0
while [ $i -lt "$PV_MOUNTS" ]; do
  eval "target=\\$PV_MOUNT_\${i}_TARGET kind=\\$PV_MOUNT_\${i}_KIND"
  if [ "$kind" = directory ]; then
    if [ "$PV_ROOTLESS" = 1 ]; then
      [ -d "$target" ] || make_directory "$target"
      must mount --rbind "/.polyvirt/$i" "$target"
    fi
  else
    files=1
    [ -e "$target" ] || make_file "$target"
  fi
  i=$((i + 1))
done
[ -z "$files" ] || must mount -a -T /proc/self/fd/9
exec 7<&- 9<&-
[ $# -eq 0 ] || must umount -l "$@"
rm -rf --one-file-system /.polyvirt
[ "$PV_READ_ONLY" != 1 ] || must mount -o remount,bind,ro /
[ -d "$PV_WORKDIR" ] || make_directory "$PV_WORKDIR"
must cd "$PV_WORKDIR"
` + becomeCommand();

/** The last part, shared with `exec` into a running container: turns PV_ARG_… and PV_ENV_… into a process. */
export const execScript =
  `
set -u
exec 3>/dev/null 5>/dev/null 6>&2
PATH=/usr/sbin:/usr/bin:/sbin:/bin
fail() { printf '%s\\n' "$1" >&2; exit "$2"; }
cd "$PV_WORKDIR" || fail "exec: the working directory $PV_WORKDIR is not there" 128
` + becomeCommand();

function becomeCommand(): string {
  return `
set --
i=0
while [ $i -lt "$PV_ARGS" ]; do
  eval "set -- \\"\\$@\\" \\"\\$PV_ARG_$i\\""
  i=$((i + 1))
done
command=$1
case $command in
*=*) fail "exec: \\"$command\\": the name of a command must not contain '='" 128 ;;
esac
case $command in
*/*) [ -f "$command" ] && [ -x "$command" ] || fail "exec: \\"$command\\": no such executable file" 128 ;;
*)
  found=
  IFS=:
  set -f
  for place in $PV_PATH; do
    if [ -f "$place/$command" ] && [ -x "$place/$command" ]; then
      found=1
      break
    fi
  done
  unset IFS
  [ -n "$found" ] || fail "exec: \\"$command\\": executable file not found in \\$PATH" 128
  ;;
esac
i=$((PV_ENVS - 1))
while [ $i -ge 0 ]; do
  eval "set -- \\"\\$PV_ENV_$i\\" \\"\\$@\\""
  i=$((i - 1))
done
set -- env -i -- "$@"
i=$((PV_CREDENTIALS - 1))
while [ $i -ge 0 ]; do
  eval "set -- \\"\\$PV_CREDENTIAL_$i\\" \\"\\$@\\""
  i=$((i - 1))
done
# A terminal's shell wants a session whose processes it can see.
[ "\${PV_SESSION:-0}" != 1 ] || set -- setsid --ctty "$@"
printf 'ready\\n' >&5
(trap '' PIPE; printf 'ready\\n' >&3) 2>/dev/null
exec "$@" 2>&6 3>&- 5>&- 6>&-
`;
}
