package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locket-dev/locket/internal/jail"
)

// attemptEnv holds the path of a file that this program, started as an engine, tries to read, and
// the address and the socket to which it tries to connect.
const attemptEnv = "attempt"

func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == attemptEnv {
		attempt(os.Args[2], os.Args[3], os.Args[4])
		return
	}
	os.Exit(m.Run())
}

// attempt does what a photo would do that has taken over the program decoding it. It prints what it
// got.
func attempt(secret, address, socket string) {
	got := func(what string, err error) {
		if err == nil {
			fmt.Println("GOT", what)
		} else {
			fmt.Println("refused", what, err)
		}
	}
	_, err := os.ReadFile(secret)
	got("a file of the home", err)
	_, err = os.ReadDir(filepath.Dir(secret))
	got("a folder of the home", err)
	got("a change in the home", os.WriteFile(filepath.Join(filepath.Dir(secret), "mine"), nil, 0o600))
	for _, network := range []string{"tcp", "udp"} {
		c, err := net.Dial(network, address)
		if err == nil && network == "udp" {
			_, err = c.Write([]byte("out"))
		}
		got(network, err)
	}
	_, err = net.Dial("unix", socket)
	got("a socket of the user", err)
	_, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
	got("the worker's environment", err)
	got("a namespace", unix.Unshare(unix.CLONE_NEWUSER))
	_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 8, 0, 0)
	if errno == unix.EFAULT {
		errno = 0 // the call would have read its argument
	}
	got("io_uring", errnoOf(errno))
	got("its own folder", os.WriteFile("mine", nil, 0o600))
}

func errnoOf(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

// A program that a photo or a recording has taken over reaches no network, reads nothing of the
// home, and changes only its own folder. The same attempts succeed without confinement.
func TestThreatEngineTakenOver(t *testing.T) {
	home := t.TempDir()
	secret := filepath.Join(home, "keys")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	at := filepath.Join(home, "socket")
	socket, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := Command{Engine: "test", Program: self, Dir: t.TempDir(), Limits: Limits{Memory: 8 << 30}}
	out, err := c.Run(t.Context(), Input{}, attemptEnv, secret, ln.Addr().String(), at)
	if err != nil {
		t.Fatal(err)
	}
	cell := jail.Possible() // complete on any kernel since 2021 that was built with Landlock
	t.Logf("%+v\n%s", cell, out)
	for what, held := range map[string]bool{"a file of the home": cell.Files, "a folder of the home": cell.Files, "a change in the home": cell.Files,
		"the worker's environment": cell.Files, "tcp": cell.Network, "udp": cell.Network, "a socket of the user": cell.Network, "a namespace": cell.Network,
		"io_uring": cell.Network, "its own folder": false} {
		if got := strings.Contains(string(out), "GOT "+what+"\n"); held && got {
			t.Errorf("it got %s", what)
		} else if !got && !strings.Contains(string(out), "refused "+what+" ") {
			t.Errorf("it did not try %s", what)
		}
	}
	if !strings.Contains(string(out), "GOT its own folder\n") {
		t.Error("the engine can't read its own folder")
	}
	// What a run takes away from a thread does not outlast the run.
	if _, err := os.ReadFile(secret); err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
}

// If programs can't be kept from something, that is logged once.
func TestOpenIsLogged(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	t.Cleanup(func() { slog.SetDefault(old); noted = sync.Once{} })
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	noteOpen(jail.Cell{Network: true, Files: true})
	if log.Len() > 0 {
		t.Error(log.String())
	}
	for range 2 {
		noteOpen(jail.Cell{Network: true})
	}
	if strings.Count(log.String(), "may read all that this user may") != 1 {
		t.Error(log.String())
	}
	for _, c := range []jail.Cell{{}, {Files: true}} {
		if words, whole := confinement(c); whole || !strings.Contains(words, "may reach the network") {
			t.Errorf("%+v: %s", c, words)
		}
	}
}
