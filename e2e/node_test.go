package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
)

type record struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

func mustParse(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// The path of the README: from an empty folder to an answer, a reason, a pause and something
// forgotten.
func TestFirstDay(t *testing.T) {
	h := newHome(t)
	h.start()
	h.must("replay", "../testdata/short.txt")
	h.eventually("an answer", func(s string) bool { return strings.Contains(s, "Lisbon") }, "search", "where does Ana live")

	var page struct {
		Memories []memory.Memory `json:"memories"`
	}
	h.must("add", "--speaker", "Ana", "The Wi-Fi password is maple-TREE-9921.")
	out := h.must("--json", "list", "--type", "vault")
	for line := range strings.Lines(out) {
		var m memory.Memory
		mustParse(t, line, &m)
		page.Memories = append(page.Memories, m)
	}
	if len(page.Memories) != 1 || strings.Contains(strings.ToLower(out), "maple") {
		t.Fatalf("vault: %s", out)
	}
	id := page.Memories[0].ID.String()
	if why := h.must("why", id[:8]); !strings.Contains(why, "ADD") && !strings.Contains(strings.ToLower(why), "secrets") {
		t.Errorf("why: %s", why)
	}
	if out := h.must("pause"); !strings.Contains(strings.ToLower(out), "paus") {
		t.Errorf("pause: %s", out)
	}
	if out := h.must("replay", "../testdata/short.txt"); !strings.Contains(out, "dropped") {
		t.Errorf("replay while paused: %s", out)
	}
	h.must("resume")
	book := filepath.Join(t.TempDir(), "book")
	if out := h.must("export", "--notebook", book); !strings.Contains(out, "signed by") {
		t.Errorf("export: %s", out)
	}
	if text, err := os.ReadFile(filepath.Join(book, "vault.md")); err != nil || !strings.Contains(string(text), "Wi-Fi") || strings.Contains(strings.ToLower(string(text)), "maple") {
		t.Errorf("the notebook's vault: %s, %v", text, err)
	}
	if out := h.must("import", book); !strings.Contains(out, "Imported 0 records") {
		t.Errorf("import of what is there: %s", out)
	}
	h.must("doctor")
	if out := h.must("doctor", "--verify"); !strings.Contains(out, "every record") {
		t.Errorf("doctor --verify: %s", out)
	}
	h.must("forget", "--last", "1h", "--yes")
	if out := h.must("search", "where does Ana live"); strings.Contains(out, "Lisbon") {
		t.Errorf("forgotten, and found: %s", out)
	}
	if err := h.d.stop(t); err != nil {
		t.Errorf("SIGTERM: %v\n%s", err, h.d.log)
	}
	if out := h.must("--json", "status"); !strings.Contains(out, `"running":false`) {
		t.Errorf("status without a daemon: %s", out)
	}
}

// Two daemons can't use one home, and the error says who has it.
func TestOneDaemonAHome(t *testing.T) {
	h := newHome(t)
	h.start()
	out, errs, code := h.try("run")
	if code != 1 || !strings.Contains(errs, "in use") && !strings.Contains(errs, "already") {
		t.Errorf("a second daemon: exit %d, %s%s", code, out, errs)
	}
}

func TestWrongPassphrase(t *testing.T) {
	h := &home{t: t, dir: filepath.Join(t.TempDir(), "home")}
	h.configure()
	right, wrong := filepath.Join(t.TempDir(), "right"), filepath.Join(t.TempDir(), "wrong")
	for file, text := range map[string]string{right: "correct horse\n", wrong: "battery staple\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.must("init", "--passphrase-file", right, "--no-check")
	_, errs, code := h.try("--set", "unlock.passphrase_file="+wrong, "search", "anything")
	if code != 1 || !strings.Contains(errs, "passphrase") {
		t.Errorf("exit %d: %s", code, errs)
	}
	h.must("--set", "unlock.passphrase_file="+right, "search", "anything")
}

// A node that was started without its passphrase accepts events, acknowledges them, and processes
// them once it is unlocked.
func TestThreatStolenDeviceLocked(t *testing.T) {
	h := &home{t: t, dir: filepath.Join(t.TempDir(), "home")}
	h.configure()
	pass := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(pass, []byte("correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.must("init", "--passphrase-file", pass, "--no-check")
	conf, err := os.ReadFile(filepath.Join(h.dir, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	// init stores the passphrase's file; a daemon that is to start locked has none.
	text := strings.ReplaceAll(string(conf), "passphrase_file", "# passphrase_file")
	if err := os.WriteFile(filepath.Join(h.dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var c credentials // of a wearable, which is added while the keys are unlocked
	h.mustJSON(&c, "--set", "unlock.passphrase_file="+pass, "device", "add", "pin")
	d := h.start()
	if !d.locked {
		t.Fatal("the daemon is not locked")
	}
	pin := wearable(t, d.broker, c.Name, c.Password)
	acknowledged(t, say(t, pin, "Ana", "I live in Lisbon now."))
	if _, _, code := h.try("search", "where does Ana live"); code == 0 {
		t.Error("a locked node answers")
	}
	if found := filesHold(t, h.dir, []string{"lisbon now"}); found != nil {
		t.Errorf("in clear: %v", found)
	}
	h.must("unlock", "--passphrase-file", pass)
	h.eventually("what was taken while locked", func(s string) bool { return strings.Contains(s, "Lisbon") }, "search", "where does Ana live")
}

func TestConfigUnknownKey(t *testing.T) {
	h := newHome(t)
	file := filepath.Join(h.dir, "config.toml")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append([]byte("colour = \"red\"\n"), b...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, code := h.try("status")
	if code == 0 || !strings.Contains(errs, "colour") || !strings.Contains(errs, ":1") && !strings.Contains(errs, "line 1") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// Nothing that was said is in a log at any level, or unencrypted in any file.
func TestLogsAndFilesHoldNoWords(t *testing.T) {
	d, err := day.Fixed()
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t, "--log-level", "debug")
	h.start()
	h.must("replay", "../testdata/day/day.jsonl")
	h.eventually("the day", func(s string) bool { return strings.Contains(s, "Huaihai") }, "search", "Where is Dr. Weber's practice, on Huaihai Road?")
	if err := h.d.stop(t); err != nil {
		t.Fatalf("%v\n%s", err, h.d.log)
	}
	var words []string
	for _, l := range d.Lines {
		if len(l.Text) > 24 {
			words = append(words, l.Text)
		}
	}
	if len(words) < 80 {
		t.Fatalf("only %d sentences to look for", len(words))
	}
	for _, s := range d.Expect.Secrets {
		words = append(words, s.Value)
	}
	log := strings.ToLower(h.d.log.String())
	if log == "" {
		t.Error("nothing was logged at level debug: there was nothing to look at")
	}
	if strings.Contains(log, "plugin fault") {
		t.Errorf("a built-in extractor failed:\n%s", log)
	}
	for _, w := range words {
		if strings.Contains(log, strings.ToLower(w)) {
			t.Errorf("the log holds %q", w)
		}
	}
	if found := filesHold(t, h.dir, words); found != nil {
		t.Errorf("in clear: %v", slices.Compact(found))
	}
}
