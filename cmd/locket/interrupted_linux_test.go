package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/testing/terminal"
)

// One Ctrl+C at a prompt ends the command, which says so, and what is typed is shown again.
func TestInterruptedAtPrompts(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("locket")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pass := filepath.Join(dir, "pass")
	if err := os.WriteFile(pass, []byte("correct horse"), 0o600); err != nil {
		t.Fatal(err)
	}
	locked, open := filepath.Join(dir, "locked"), filepath.Join(dir, "open")
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), path, args...)
		c.Env = append(os.Environ(), cheapHome...)
		return c
	}
	for _, args := range [][]string{{"--home", locked, "init", "--no-check", "--passphrase-file", pass}, {"--home", open, "init", "--no-check", "--key-file"}, {"--home", open, "add", "--plain", "The kayak is red"}} {
		if out, err := command(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if err := os.Remove(filepath.Join(locked, "config.toml")); err != nil { // it has the file with the passphrase
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args            []string
		prompt, answers string // answers come before the interrupt
		says            string
	}{
		"a passphrase":     {[]string{"--home", locked, "list"}, "Passphrase: ", "", "locket: interrupted"},
		"a new passphrase": {[]string{"--home", filepath.Join(dir, "new"), "init"}, "New passphrase: ", "", "locket: interrupted"},
		"a word":           {[]string{"--home", filepath.Join(dir, "words"), "init", "--key-file"}, "Word ", "", "the words above are valid"},
		"a question":       {[]string{"--home", open, "forget", "--query", "kayak"}, "[y/N] ", "", "locket: interrupted\nNothing was erased."},
		"half an answer":   {[]string{"--home", open, "forget", "--query", "kayak"}, "[y/N] ", "y", "locket: interrupted\nNothing was erased."},
		"a conversation":   {[]string{"--home", open, "chat"}, "> ", "", "bye"},
		"recovery words":   {[]string{"--home", open, "vault", "recover"}, ": ", "", "locket: interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			person, program := terminal.Open(t, 80, 24)
			cmd := command(c.args...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
			cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			program.Close()
			var said bytes.Buffer
			for part, interrupted := make([]byte, 4<<10), false; ; {
				n, err := person.Read(part)
				said.Write(part[:n])
				if err != nil { // EIO: the process has ended
					break
				}
				if !interrupted && strings.Contains(said.String(), c.prompt) {
					if strings.Contains(c.prompt, "assphrase") {
						untilHidden(person)
					}
					interrupted = true
					if _, err := io.WriteString(person, c.answers+"\x03"); err != nil {
						t.Fatal(err)
					}
				}
			}
			_ = cmd.Wait() // the exit code has the result
			shown := strings.ReplaceAll(said.String(), "\r\n", "\n")
			want := cli.ExitFailed
			if name == "a conversation" {
				want = cli.ExitDone
			}
			if code := cmd.ProcessState.ExitCode(); code != want || !strings.Contains(shown, c.says) {
				t.Errorf("exit %d after\n%s", code, shown)
			}
			if mode, err := unix.IoctlGetTermios(int(person.Fd()), unix.TCGETS); err != nil || mode.Lflag&unix.ECHO == 0 {
				t.Errorf("what is typed is not shown any more, %v", err)
			}
		})
	}
	out, err := command("--home", open, "list").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "kayak") {
		t.Errorf("%v: %s", err, out)
	}
}
