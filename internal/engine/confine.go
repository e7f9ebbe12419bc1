package engine

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/locket-dev/locket/internal/jail"
)

// Confinement says in words what programs can't do here, such as "no network, and no files but
// their own", or what they can, such as "the network and all files of this user". whole reports
// that they have neither network nor files.
func Confinement() (words string, whole bool) { return confinement(jail.Possible()) }

func confinement(c jail.Cell) (words string, whole bool) {
	switch {
	case c.Network && c.Files:
		return "they have no network, and open no files but their own and the system's programs", true
	case c.Network:
		return "they have no network, but may read all that this user may: the kernel has no Landlock, or does not let this process use it", false
	case c.Files:
		return "they open no files but their own and the system's programs, but may reach the network: the kernel does not let this process filter calls", false
	}
	return "they may reach the network, and read all that this user may: this system has no way to keep them from it without root", false
}

var noted sync.Once

// noteOpen logs once what programs can do without needing it.
func noteOpen(c jail.Cell) {
	if words, whole := confinement(c); !whole {
		noted.Do(func() { slog.Warn("programs that hear, read and decode run less confined than they should: " + words) })
	}
}

// The system's files that a program may read: what is installed, its libraries, time zones and
// fonts. No folder of a user or of a service is below them.
var ofTheSystem = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives", "/etc/localtime", "/etc/fonts",
	"/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"}

// view returns what a program at path may access in a run whose folder is dir.
func (c *Command) view(path, dir string) jail.View {
	read := append([]string{path, os.Getenv("TESSDATA_PREFIX")}, ofTheSystem...)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		read = append(read, real)
		if prefix, name, ok := strings.Cut(real, "/bin/"); ok { // a program in its own folder, such as /opt/NAME
			read = append(read, prefix+"/lib", prefix+"/share/"+name, prefix+"/share/tessdata")
		}
	}
	return jail.View{Read: append(read, c.Reads...), Write: append(c.writes, dir, "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")}
}
