package linktest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/freeport"
)

// Mosquitto is a real broker of a house, with a user and a password.
type Mosquitto struct {
	URL, User, Password string
	port                string
	conf                string
	cmd                 *exec.Cmd
}

func tool(t testing.TB, name string) string {
	t.Helper()
	for _, p := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name, "/opt/homebrew/sbin/" + name} {
		if found, err := exec.LookPath(p); err == nil {
			return found
		}
	}
	t.Fatalf("%s is missing: install mosquitto and mosquitto-clients", name)
	return ""
}

// StartMosquitto starts a broker, which runs until the test ends.
func StartMosquitto(t testing.TB) *Mosquitto {
	t.Helper()
	port, dir := freeport.Port(t), t.TempDir()
	m := &Mosquitto{URL: "tcp://127.0.0.1:" + port, User: "house", Password: "secret", port: port, conf: filepath.Join(dir, "mosquitto.conf")}
	passwords := filepath.Join(dir, "passwords")
	if out, err := exec.Command(tool(t, "mosquitto_passwd"), "-b", "-c", passwords, m.User, m.Password).CombinedOutput(); err != nil {
		t.Fatalf("mosquitto_passwd: %v\n%s", err, out)
	}
	conf := fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous false\npassword_file %s\npersistence true\npersistence_location %s/\n", port, passwords, dir)
	if os.Geteuid() == 0 {
		conf += "user root\n" // otherwise it drops its privileges, and can't read the folder
	}
	if err := os.WriteFile(m.conf, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Start(t)
	t.Cleanup(func() { m.Stop(t) })
	return m
}

// Start starts it again after Stop, with what it had on disk.
func (m *Mosquitto) Start(t testing.TB) {
	t.Helper()
	m.cmd = exec.Command(tool(t, "mosquitto"), "-c", m.conf)
	var said bytes.Buffer
	m.cmd.Stdout, m.cmd.Stderr = &said, &said
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Mosquitto does not report when it listens, so this tries at intervals.
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+m.port)
		if err == nil {
			c.Close()
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("mosquitto does not listen: %v\n%s", err, said.String())
		}
	}
}

// Stop stops the broker.
func (m *Mosquitto) Stop(t testing.TB) {
	if m.cmd == nil {
		return
	}
	_ = m.cmd.Process.Signal(os.Interrupt)
	_ = m.cmd.Wait()
	m.cmd = nil
}

// Publish runs mosquitto_pub to publish with QoS 1.
func (m *Mosquitto) Publish(t testing.TB, topic string, payload []byte, retain bool) {
	t.Helper()
	args := []string{"-h", "127.0.0.1", "-p", m.port, "-u", m.User, "-P", m.Password, "-q", "1", "-t", topic, "-s"}
	if retain {
		args = append(args, "-r")
	}
	cmd := exec.Command(tool(t, "mosquitto_pub"), args...)
	cmd.Stdin = bytes.NewReader(payload)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("mosquitto_pub: %v\n%s", err, out)
	}
}
