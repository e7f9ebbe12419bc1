// Package linktest runs a separate D-Bus with a mock of bluetoothd (python-dbusmock) and an Omi
// that follows a scenario. It is for tests.
package linktest

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed bluez.py
var template []byte

// busConfig allows everyone to send and own everything.
const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=%s</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
    <allow user="*"/>
  </policy>
</busconfig>
`

// Ring is the device's storage.
type Ring struct {
	Read    int      `json:"read"`
	Records []string `json:"records"` // in hex
	Fail    int      `json:"fail"`    // transfers that lose a notification
	Dropped int      `json:"dropped"`
	ID      uint64   `json:"id,omitempty"`    // not 0: firmware with the custody contract
	Spoil   int      `json:"spoil,omitempty"` // transfers with a wrong checksum; with ID
}

// Scenario says what the device is and does; bluez.py says more.
type Scenario struct {
	Address    string                `json:"address"`
	Name       string                `json:"name"`
	MTU        int                   `json:"mtu"`
	Hidden     bool                  `json:"hidden"`
	Off        bool                  `json:"off"`
	Absent     bool                  `json:"absent"`
	Reads      map[string]string     `json:"reads,omitempty"`
	Writes     []string              `json:"writes,omitempty"`
	Notify     []map[string][]string `json:"notify,omitempty"`
	Percentage *byte                 `json:"percentage,omitempty"`
	Ring       *Ring                 `json:"ring,omitempty"`
	Log        string                `json:"log"`
}

// BlueZ is a running mock.
type BlueZ struct {
	Bus string // D-Bus address
	log string
}

// Bus starts a D-Bus daemon, and returns its address. It needs Debian's dbus.
func Bus(t testing.TB) string {
	t.Helper()
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Fatalf("dbus-daemon is missing: install dbus (%v)", err)
	}
	// A socket's path has 107 bytes at most, and t.TempDir can be longer.
	dir, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	config := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, busConfig, filepath.Join(dir, "socket")), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, nil, daemon, "--config-file="+config, "--nofork", "--nopidfile", "--print-address")
}

// Start starts a bus with a bluetoothd. It needs Debian's dbus and python3-dbusmock.
func Start(t testing.TB, s Scenario) *BlueZ {
	t.Helper()
	dir := t.TempDir()
	if s.Log == "" {
		s.Log = filepath.Join(dir, "log")
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	scenario, script := filepath.Join(dir, "scenario.json"), filepath.Join(dir, "bluez.py")
	for name, content := range map[string][]byte{scenario: b, script: template, s.Log: nil} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	z := &BlueZ{Bus: Bus(t), log: s.Log}
	params, err := json.Marshal(map[string]string{"scenario": scenario})
	if err != nil {
		t.Fatal(err)
	}
	mock(t, z.Bus, script, "--parameters", string(params))
	return z
}

// start runs a process until the test ends, and returns its first line.
func start(t testing.TB, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var said strings.Builder // read once the process has ended
	cmd.Env, cmd.Stderr = env, &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait() // when it ended, it wrote more to stderr
		t.Fatalf("%s ended before it was ready: %v\n%s", name, err, said.String())
	}
	return strings.TrimSpace(line)
}

// Log returns what was asked of the device so far, a line each: "connect", "write UUID HEX", and
// others as in bluez.py.
func (z *BlueZ) Log(t testing.TB) []string {
	t.Helper()
	b, err := os.ReadFile(z.log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// Wrote returns what was written to a characteristic, in hex.
func (z *BlueZ) Wrote(t testing.TB, char string) (out []string) {
	for _, l := range z.Log(t) {
		if v, ok := strings.CutPrefix(l, "write "+char+" "); ok {
			out = append(out, v)
		}
	}
	return out
}

// mock starts a template of python-dbusmock, which reports when it is ready.
func mock(t testing.TB, bus, script string, args ...string) {
	t.Helper()
	const python = "/usr/bin/python3" // Debian's own: other Pythons don't see its modules
	if out, err := exec.Command(python, "-c", "import dbusmock, gi").CombinedOutput(); err != nil {
		t.Fatalf("%s can't import dbusmock: install python3-dbusmock (%v: %s)", python, err, out)
	}
	env := append(os.Environ(), "DBUS_SYSTEM_BUS_ADDRESS="+bus, "PYTHONDONTWRITEBYTECODE=1")
	if got := start(t, env, python, append([]string{"-m", "dbusmock", "--system", "--logfile", os.DevNull, "--template", script}, args...)...); got != "ready" {
		t.Fatalf("dbusmock said %q", got)
	}
}
