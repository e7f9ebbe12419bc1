package tzdata

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// On a machine without zones, package time loads them from this package. The test needs root, as CI
// has it, to give a process another file system.
func TestMachineWithoutTimeZones(t *testing.T) {
	if name := os.Getenv("ZONE"); name != "" { // the child process
		at, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(time.Date(2026, 7, 1, 12, 0, 0, 0, at).UTC().Format(time.RFC3339))
		return
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "test"), self, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Europe/Lisbon": "2026-07-01T11:00:00Z", "Asia/Kathmandu": "2026-07-01T06:15:00Z"} {
		cmd := exec.Command("/test", "-test.run=^TestMachineWithoutTimeZones$", "-test.v")
		cmd.Dir, cmd.Env = "/", []string{"ZONE=" + name}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}
