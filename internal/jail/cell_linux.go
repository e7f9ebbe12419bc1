package jail

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Possible returns what [Thread] keeps programs from on this system.
func Possible() Cell { return Cell{Network: canDeny(), Files: version() > 0} }

// Thread confines the calling thread, and each program that is started from it, for good. The
// caller has locked the goroutine to its thread, and lets it end without unlocking, so that nothing
// else ever runs on the thread. What the system can't do is not in the Cell; an error means that it
// could not do what Possible says.
func Thread(v View) (Cell, error) {
	c := Possible()
	if !c.Network && !c.Files {
		return c, nil
	}
	if err := noNewPrivileges(); err != nil {
		return Cell{}, err
	}
	if c.Files {
		if err := v.enforce(version()); err != nil {
			return Cell{}, err
		}
	}
	if c.Network {
		if err := deny(); err != nil {
			return Cell{}, err
		}
	}
	return c, nil
}

// version returns the kernel's version of Landlock, and 0 if it has none
// (landlock_create_ruleset(2)).
func version() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

const (
	reading = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// rights returns all rights to files that a version of Landlock knows.
func rights(version int) uint64 {
	all := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1)
	if version >= 2 {
		all |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		all |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		all |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

// enforce restricts the calling thread to the view.
func (v View) enforce(version int) error {
	all := rights(version)
	attr := unix.LandlockRulesetAttr{Handled_access_fs: all}
	if version >= 4 { // in addition to the filter
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("jail: landlock: %w", errno)
	}
	defer unix.Close(int(rules))
	if err := errors.Join(allow(int(rules), v.Read, all&reading), allow(int(rules), v.Write, all)); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("jail: landlock: %w", errno)
	}
	return nil
}

// allow adds files, and folders with everything below them, to the rules. What can't be opened is
// left out: a program could not open it either.
func allow(rules int, names []string, right uint64) error {
	for _, name := range names {
		fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		attr := unix.LandlockPathBeneathAttr{Allowed_access: right, Parent_fd: int32(fd)}
		errno := addRule(rules, &attr)
		if errno == unix.EINVAL { // a file, which has fewer rights than a folder
			attr.Allowed_access &= ofFiles
			errno = addRule(rules, &attr)
		}
		_ = unix.Close(fd)
		if errno != 0 {
			return fmt.Errorf("jail: landlock: %s: %w", name, errno)
		}
	}
	return nil
}

func addRule(rules int, attr *unix.LandlockPathBeneathAttr) unix.Errno {
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(attr)), 0, 0, 0)
	return errno
}
