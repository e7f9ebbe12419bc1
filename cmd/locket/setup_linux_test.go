package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/testing/long"
	"github.com/locket-dev/locket/internal/testing/terminal"
)

var phraseWord = regexp.MustCompile(`  (\d+) ([a-z]+)`)

// atTerminal runs setup as a process at a terminal. It answers the prompts, and calls end at the
// prompt with this number, or never if it is 0. It returns the prompts and the process's exit code,
// which is -1 if it was killed.
func atTerminal(t *testing.T, home string, answers []reply, end int, do func(*os.Process, *os.File)) (asked []string, said string, code int) {
	t.Helper()
	person, program := terminal.Open(t, 80, 24)
	path, err := exec.LookPath("locket")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "--home", home, "setup")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(path), "XDG_CONFIG_HOME="+filepath.Join(t.TempDir(), "config"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close() // only the process keeps it open, so that reading ends with the process
	var all bytes.Buffer
	part, from := make([]byte, 4<<10), 0
	for {
		n, err := person.Read(part)
		all.Write(part[:n])
		if err != nil { // EIO: the process has ended
			break
		}
		last := all.String()[from:]
		last = last[strings.LastIndex(last, "\n")+1:]
		for _, r := range answers {
			if !strings.Contains(last, r.prompt) || !strings.HasSuffix(last, ": ") {
				continue
			}
			asked, from = append(asked, last), all.Len()
			if len(asked) == end {
				do(cmd.Process, person)
			} else if len(asked) > 50 { // it keeps asking the same
				_ = cmd.Process.Kill() // it may have ended
			} else if _, err := io.WriteString(person, r.answer(all.String())+"\n"); err != nil {
				t.Error(err)
			}
			break
		}
	}
	_ = cmd.Wait() // the exit code has the result
	code = cmd.ProcessState.ExitCode()
	if mode, err := unix.IoctlGetTermios(int(person.Fd()), unix.TCGETS); err != nil || code >= 0 && mode.Lflag&unix.ECHO == 0 {
		t.Errorf("what is typed is not shown any more, %v", err)
	}
	return asked, all.String(), code
}

// untilHidden waits until nothing typed is shown. Nobody presses Ctrl+C between a prompt's appearance
// and that moment. A terminal tells nobody when it begins to hide, so this looks every millisecond.
func untilHidden(at *os.File) {
	for late := time.Now().Add(10 * time.Minute); time.Now().Before(late); time.Sleep(time.Millisecond) {
		if mode, err := unix.IoctlGetTermios(int(at.Fd()), unix.TCGETS); err != nil || mode.Lflag&unix.ECHO == 0 {
			break
		}
	}
}

// wordShown returns the word of the phrase that the last prompt asks for.
func wordShown(said string) string {
	asked := setupWord.FindAllStringSubmatch(said, -1)
	for _, m := range phraseWord.FindAllStringSubmatch(said, -1) {
		if m[1] == asked[len(asked)-1][1] {
			return m[2]
		}
	}
	return "none"
}

// The process is killed at a prompt, or interrupted at one for a passphrase. After that there is
// no home, or a complete one with which setup continues. A mistyped passphrase is asked for again.
// KILLS sets at how many prompts it is killed; with 18 or more, each prompt is tried in both ways.
func TestSetupKilledAtEachPrompt(t *testing.T) {
	t.Parallel()
	answers := func(backup string) []reply {
		wrong := 0
		return []reply{{"Your name", fixed("Maja")}, {"time zone", fixed("Europe/Berlin")}, {"1, 2 or 3", fixed("1")}, {"New passphrase", fixed("correct horse")},
			{"Once more", func(string) string {
				if wrong++; wrong == 1 {
					return "correct house"
				}
				return "correct horse"
			}},
			{"Languages", fixed("de")}, {"24 words", fixed("en")}, {"Word ", wordShown}, {"Passphrase", fixed("correct horse")}, {"Name of the wearable", fixed("pendant")}, {"Use it?", fixed("n")}, {"log in", fixed("y")},
			{"remember", fixed("I park the car on level 3")}, {"backup", fixed(backup)}}
	}
	dir := t.TempDir()
	whole, said, code := atTerminal(t, filepath.Join(dir, "whole", "home"), answers(filepath.Join(dir, "whole", "backup")), 0, nil)
	if code != cli.ExitDone || !strings.Contains(said, "the two passphrases differ") || !strings.Contains(said, "Found again") || !strings.Contains(said, "▀") {
		t.Fatalf("exit %d, asked %q\n%s", code, whole, said)
	}
	menus, passphrases := 0, 0
	for _, prompt := range whole {
		if strings.Contains(prompt, "1, 2 or 3") {
			menus++
		} else if strings.Contains(prompt, "New passphrase") {
			passphrases++
		}
	}
	if menus != 1 || passphrases < 2 { // the next thing typed is the passphrase again, and a menu would show it
		t.Errorf("after a mistyped passphrase: %d menus, %d prompts for a new passphrase", menus, passphrases)
	}
	kill := func(p *os.Process, _ *os.File) { _ = p.Kill() }
	interrupt := func(_ *os.Process, at *os.File) {
		untilHidden(at)
		_, _ = at.WriteString("\x03")
	}
	kills := long.Kills(t, 6) // at so many prompts, spread over all
	for end := 1; end <= len(whole); end++ {
		ways := map[string]func(*os.Process, *os.File){}
		if end*kills/len(whole) > (end-1)*kills/len(whole) {
			ways["killed"] = kill
		}
		hidden := strings.Contains(whole[end-1], "assphrase") || strings.Contains(whole[end-1], "Once more") // TestSetupAbortedAtEachPrompt covers the others
		if hidden && (kills >= len(whole) || !slices.Contains(whole[:end-1], whole[end-1])) {
			ways["interrupted"] = interrupt
		}
		for how, do := range ways {
			t.Run(fmt.Sprint(end, " ", how), func(t *testing.T) {
				dir := filepath.Join(dir, strconv.Itoa(end)+how)
				home, list := filepath.Join(dir, "home"), answers(filepath.Join(dir, "backup"))
				asked, said, code := atTerminal(t, home, list, end, do)
				if len(asked) != end || code == cli.ExitDone {
					t.Fatalf("exit %d, asked %q\n%s", code, asked, said)
				}
				_, err := os.Stat(filepath.Join(home, "keys"))
				if made := err == nil; made != pastWords(asked) {
					t.Errorf("the home is there: %v", made)
				}
				if _, err := os.Stat(home); how != "killed" && !pastWords(asked) && err == nil {
					t.Error("something is left")
				}
				if _, said, code := atTerminal(t, home, list, 0, nil); code != cli.ExitDone {
					t.Errorf("going on: exit %d\n%s", code, said)
				}
				if _, err := os.Stat(filepath.Join(home, "setup.new")); err == nil {
					t.Error("the folder of the home that was not made is left")
				}
			})
		}
	}
}

// pastWords reports whether the last prompt comes after the words were checked.
func pastWords(asked []string) bool {
	checked := false
	for _, q := range asked {
		checked = checked || strings.HasPrefix(q, "Word ")
	}
	return checked && !strings.HasPrefix(asked[len(asked)-1], "Word ")
}
