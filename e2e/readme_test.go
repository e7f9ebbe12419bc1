package e2e

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the transcript into docs/demo.md")

const (
	readme = "../README.md"
	demo   = "../docs/demo.md"
)

// section returns the text between two marks, with the text before and after.
func section(t *testing.T, text, from, to string) (before, in, after string) {
	t.Helper()
	before, rest, ok := strings.Cut(text, from)
	if !ok {
		t.Fatalf("the page has no %q", from)
	}
	in, after, ok = strings.Cut(rest, to)
	if !ok {
		t.Fatalf("the page has no %q after %q", to, from)
	}
	return before + from, in, to + after
}

// differs matches what changes from run to run: times, sizes, the words of a pairing, and a speech
// engine's transcript of a recording.
var differs = regexp.MustCompile(`\d+(\.\d+)? (s|ms|MB|kB|files)\b|the same words: .*|by pocketsphinx.*`)

func same(s string) string { return differs.ReplaceAllString(strings.TrimSpace(s), "…") }

// The transcript in docs/demo.md is the demo's output.
func TestDemoTranscript(t *testing.T) {
	var out, errs bytes.Buffer
	cmd := exec.Command(filepath.Join(bin, "locket-demo"))
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
	}
	b, err := os.ReadFile(demo)
	if err != nil {
		t.Fatal(err)
	}
	before, in, after := section(t, string(b), "<!-- transcript -->\n```\n", "```\n<!-- end -->")
	if *update {
		if err := os.WriteFile(demo, []byte(before+strings.TrimRight(out.String(), "\n")+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if same(in) != same(out.String()) {
		t.Errorf("the transcript of docs/demo.md is not what the demo prints; go test ./e2e -run Transcript -update\n%s", out.String())
	}
}

// Every command under "By hand" runs, in order.
func TestReadmeCommands(t *testing.T) {
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, in, _ := section(t, string(b), "## By hand\n\n```sh\n", "```")
	var script strings.Builder
	script.WriteString("set -eu\ntrap 'kill $! 2>/dev/null; wait' EXIT\n")
	for line := range strings.Lines(in) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "go tool task build"):
			script.WriteString("export PATH=" + bin + ":$PATH\n") // so that what it builds is found
		case strings.HasPrefix(line, "locket run"):
			script.WriteString("locket run &\nfor i in $(seq 600); do [ -S $HOME/.local/share/locket/locket.sock ] && break; sleep 0.2; done\n")
		case strings.HasPrefix(line, "locket open"):
			script.WriteString("locket open --print\n") // there is no screen
		case strings.HasPrefix(line, "locket search"):
			script.WriteString("for i in $(seq 600); do locket search \"when is the dentist\" | grep -q dentist && break; sleep 0.2; done\n" + line + "\n")
		default:
			script.WriteString(line + "\n")
		}
	}
	there, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", script.String())
	if runtime.GOOS == "linux" && os.Geteuid() == 0 { // in a network of its own, where no other program uses the brokers' port
		cmd = exec.Command("unshare", "--net", "bash", "-c", "ip link set lo up\n"+script.String())
	}
	cmd.Dir = t.TempDir() // the notebook is written there
	if err := os.Symlink(there, filepath.Join(cmd.Dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_RUNTIME_DIR=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"dentist", "vault", "every record"} {
		if !strings.Contains(strings.ToLower(string(out)), want) {
			t.Errorf("what the commands print has no %q:\n%s", want, out)
		}
	}
}
