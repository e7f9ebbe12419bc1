package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// bridge returns the process of the daemon's bridge once doctor says that it runs, and is not the
// one before.
func (h *home) bridge(before int) (pid int) {
	h.t.Helper()
	until(h.t, "a bridge runs", func() bool {
		var r serve.DoctorReport
		h.mustJSON(&r, "doctor")
		for _, f := range r.Findings {
			if f.Check == "bridge" && f.Level == serve.LevelOK {
				if _, err := fmt.Sscanf(f.Detail, "it is running as process %d,", &pid); err != nil {
					h.t.Fatalf("%s: %v", f.Detail, err)
				}
			}
		}
		return pid != 0 && pid != before
	})
	return pid
}

// gone reports whether a process has ended.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) }

// The daemon runs locket-bridge as its config.toml says. Files that come into a folder are found.
// The bridge restarts when it is killed, continues where it was, and ends with the daemon, however
// that ends.
func TestDaemonRunsABridge(t *testing.T) {
	at, dir := freeport.Addr(t), t.TempDir()
	h := newHome(t, "--listen", at)
	folder, program := filepath.Join(dir, "memos"), filepath.Join(dir, "the-bridge")
	put := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := func(text string) {
		t.Helper()
		h.eventually(text, func(s string) bool { return strings.Contains(s, text) }, "search", text)
	}
	conf, err := os.ReadFile(filepath.Join(h.dir, "config.toml"))
	if err := errors.Join(err, os.Mkdir(folder, 0o700), os.Symlink(filepath.Join(bin, "locket-bridge"), program)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"config.toml":    fmt.Sprintf("%s[bridge]\nconfig = \"bridge.toml\"\nprogram = %q\n", conf, program),
		"memos.password": h.addDevice("memos").Password + "\n",
		"bridge.toml": fmt.Sprintf("broker = \"tcp://%s\"\n[[device]]\nfamily = \"files\"\nname = \"memos\"\npassword_file = \"memos.password\"\nfolder = %q\nstate = \"memos.json\"\n",
			at, folder),
	} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("early.txt", []byte("The ladder is behind the greenhouse.")) // before anybody looks
	d := h.start()
	first := h.bridge(0)
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", first)); err != nil || !bytes.HasPrefix(line, []byte(program+"\x00")) {
		t.Errorf("the bridge runs as %q, %v", line, err)
	}
	put("memo.wav", audio.Speech())
	put("photo.jpg", dayFile(t, "astronaut.jpg"))
	found("ladder is behind the greenhouse")
	h.eventually("recording and photo", func(s string) bool { return strings.Contains(s, "Recording of") && strings.Contains(s, "Photo") }, "list", "--type", "resource")

	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	put("later.txt", []byte("The spare fuses are in the blue tin."))
	second := h.bridge(first)
	found("spare fuses are in the blue tin")
	if log := d.log.String(); !strings.Contains(log, "the bridge ended, and is restarted") {
		t.Errorf("the log says nothing of a bridge that was killed: %s", log)
	}
	if err := d.stop(t); err != nil {
		t.Errorf("%v\n%s", err, d.log)
	}
	if !gone(second) {
		t.Error("the daemon ended, and its bridge did not")
	}

	put("while away.txt", []byte("The dinghy is moored at pontoon nine."))
	d = h.start()
	third := h.bridge(0)
	found("dinghy is moored at pontoon nine")
	d.kill()
	until(t, "the end of a killed daemon's bridge", func() bool { return gone(third) })
	h.start()
	h.bridge(third)
	if n := len(h.utterances()); n != 3 {
		t.Errorf("%d utterances of 3 notes", n)
	}
	if list := h.must("list", "--type", "resource"); strings.Count(list, "Recording of") != 1 || strings.Count(list, "Photo") != 1 {
		t.Errorf("a recording and a photo became %s", list)
	}
}
