package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/node/config"
)

// answerer plays the person at the terminal of a setup: it answers each prompt on standard error,
// and ends the input at the prompt with the number end.
type answerer struct {
	in      *io.PipeWriter
	replies []reply
	end     int // 1: at the first prompt; 0: never
	cancel  func()

	line  bytes.Buffer // since the last prompt
	asked []string
}

type reply struct {
	prompt string // part of it
	answer func(prompt string) string
}

func (p *answerer) Write(b []byte) (int, error) {
	p.line.Write(b)
	if !strings.HasSuffix(p.line.String(), ": ") || strings.Contains(string(b), "\n\n") {
		return len(b), nil
	}
	prompt := strings.TrimSpace(p.line.String())
	p.line.Reset()
	p.asked = append(p.asked, prompt)
	if p.end == len(p.asked) {
		if p.cancel != nil {
			p.cancel()
		} else {
			p.in.Close()
		}
		return len(b), nil
	}
	answer := ""
	for _, r := range p.replies {
		if strings.Contains(prompt, r.prompt) {
			answer = r.answer(prompt)
		}
	}
	go io.WriteString(p.in, answer+"\n")
	return len(b), nil
}

var setupWord = regexp.MustCompile(`Word (\d+),`)

func fixed(s string) func(string) string { return func(string) string { return s } }

func rightWord(prompt string) string {
	m := setupWord.FindStringSubmatch(prompt)
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return err.Error()
	}
	return word(n)
}

// runSetup runs setup with somebody at the terminal.
func runSetup(t *testing.T, home string, p *answerer, interrupt bool, args ...string) (code int, out string) {
	t.Helper()
	return runSetupWith(t, home, p, interrupt, func(*cli.Deps) {}, args...)
}

func runSetupWith(t *testing.T, home string, p *answerer, interrupt bool, change func(*cli.Deps), args ...string) (code int, out string) {
	t.Helper()
	r, w := io.Pipe()
	defer w.Close()
	p.in = w
	d := testDeps()
	d.Environ = append([]string{"XDG_CONFIG_HOME=" + filepath.Join(t.TempDir(), "config dir")}, cheapHome...)
	d.Terminal = func() bool { return true }
	change(&d)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if interrupt {
		p.cancel = cancel
	}
	var b bytes.Buffer
	code = run(ctx, append([]string{"--home", home}, args...), r, &b, p, d)
	return code, b.String()
}

var setupReplies = []reply{{"Your name", fixed("Maja")}, {"time zone", fixed("Europe/Berlin")}, {"1, 2 or 3", fixed("3")}, {"Word", rightWord},
	{"Name of the wearable", fixed("pendant")}, {"log in", fixed("y")}, {"remember", fixed("I park the car on level 3")}}

// If a person answers everything, there is a home with its settings, a wearable, the unit, and a
// first memory that is found.
func TestSetupAsks(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	p := &answerer{replies: setupReplies}
	code, out := runSetup(t, home, p, false, "setup")
	if code != cli.ExitDone {
		t.Fatalf("exit %d\n%s\n%q\n%s", code, out, p.asked, p.line.String())
	}
	for _, want := range []string{"user name  pendant", "Found again: ", "level 3", "The node is ready", " engine add ears auto, or", "▀", " backup DIR, to a stick"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if i := slices.IndexFunc(p.asked, func(s string) bool { return strings.Contains(s, "Word ") }); i < 0 || !strings.Contains(p.asked[i], "  24 ") || strings.Contains(out, "  24 ") {
		t.Errorf("the words are not shown where they are asked for: %q\n%s", p.asked, out)
	}
	conf, err := os.ReadFile(filepath.Join(home, "config.toml"))
	if err != nil || !strings.Contains(string(conf), "Maja") || !strings.Contains(string(conf), "Europe/Berlin") {
		t.Errorf("%s, %v", conf, err)
	}
	// Again: nothing is made again, and what was skipped is asked.
	p = &answerer{}
	if code, out := runSetup(t, home, p, false, "setup"); code != cli.ExitDone || strings.Contains(out, "24 ") || len(p.asked) == 0 || strings.Contains(p.asked[0], "Your name") {
		t.Errorf("exit %d, asked %q\n%s", code, p.asked, out)
	}
	// A first daemon offers the setup, and does without if nobody wants it.
	p = &answerer{}
	other := filepath.Join(t.TempDir(), "other")
	if code, _ := runSetup(t, other, p, false, "run"); code != cli.ExitFailed || !slices.ContainsFunc(p.asked, func(s string) bool { return strings.Contains(s, "Set one up now?") }) {
		t.Errorf("exit %d, asked %q; %s", code, p.asked, p.line.String())
	}
}

// If setup ends at any prompt, by the end of input or an interrupt, nothing is half done: there is
// no home until its words are checked, and a complete one afterwards.
func TestSetupAbortedAtEachPrompt(t *testing.T) {
	whole := &answerer{replies: setupReplies}
	if code, out := runSetup(t, filepath.Join(t.TempDir(), "home"), whole, false, "setup"); code != cli.ExitDone {
		t.Fatalf("exit %d\n%s", code, out)
	}
	last := 0 // prompt about the words
	for i, q := range whole.asked {
		if strings.HasPrefix(q, "Word ") || strings.Contains(q, "\nWord ") {
			last = i + 1
		}
	}
	if last == 0 || last == len(whole.asked) {
		t.Fatalf("%q", whole.asked)
	}
	for end := 1; end <= len(whole.asked); end++ {
		for _, interrupt := range []bool{false, true} {
			t.Run(fmt.Sprint(end, interrupt), func(t *testing.T) {
				home := filepath.Join(t.TempDir(), "home")
				code, _ := runSetup(t, home, &answerer{replies: setupReplies, end: end}, interrupt, "setup")
				if code != cli.ExitFailed {
					t.Errorf("exit %d", code)
				}
				_, err := os.Stat(home)
				if made := err == nil; made != (end > last) {
					t.Errorf("after prompt %d of %d the home is there: %v", end, last, made)
				}
				if code, out := runSetup(t, home, &answerer{replies: setupReplies}, false, "setup"); code != cli.ExitDone {
					t.Errorf("going on: exit %d\n%s", code, out)
				}
			})
		}
	}
}

// A person who chooses the keyring where there is none is asked again, and so is one who gives a
// wearable an invalid name.
func TestSetupAsksAgain(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	ways := []string{"3", "2", "9"}
	names := []string{"pendant", "My pendant"}
	last := func(of *[]string) func(string) string {
		return func(string) string {
			v := (*of)[len(*of)-1]
			*of = (*of)[:len(*of)-1]
			return v
		}
	}
	p := &answerer{replies: append(slices.Clone(setupReplies), reply{"1, 2 or 3", last(&ways)}, reply{"Name of the wearable", last(&names)})}
	noKeyring := func(d *cli.Deps) {
		make := d.InitHome
		d.InitHome = func(cfg config.Config, o cli.InitOptions) (string, error) {
			if o.Keyring {
				return "", fmt.Errorf("create keys: %w", keyring.ErrNoKeyring)
			}
			return make(cfg, o)
		}
	}
	if code, out := runSetupWith(t, home, p, false, noKeyring, "setup"); code != cli.ExitDone || len(ways) > 0 || len(names) > 0 || !strings.Contains(strings.Join(p.asked, "\n"), `"9": want 1, 2 or 3`) || !strings.Contains(out, "user name  pendant") {
		t.Errorf("exit %d, asked %q\n%s", code, p.asked, out)
	}
}

// A folder that was there before is never removed.
func TestSetupKeepsAnExistingFolder(t *testing.T) {
	home := t.TempDir()
	mine := filepath.Join(home, "mine.txt")
	if err := os.WriteFile(mine, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _ := runSetup(t, home, &answerer{replies: append(slices.Clone(setupReplies), reply{"Word", func(string) string { return "hm" }}), end: 8}, false, "setup"); code != cli.ExitFailed {
		t.Errorf("exit %d", code)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 1 || left[0].Name() != "mine.txt" {
		t.Errorf("%q, %v", left, err)
	}
}
