package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/testing/relaytest"
)

func serveRelay(t *testing.T) (url string) {
	t.Helper()
	return relaytest.Serve(t, t.TempDir(), relay.Config{}, api.Config{}).URL
}

// locket runs the real commands on a home, and returns what they print.
func locket(t *testing.T, home, stdin string, args ...string) (string, int) {
	t.Helper()
	var out, problems bytes.Buffer
	code := run(t.Context(), append([]string{"--home", home, "--set", "plugins.disabled=facts,speech,scene,secrets", "--set", "disk.reserve=1MB"}, args...),
		strings.NewReader(stdin), &out, &problems, testDeps())
	return out.String() + problems.String(), code
}

func ok(t *testing.T, home, stdin string, args ...string) string {
	t.Helper()
	out, code := locket(t, home, stdin, args...)
	if code != 0 {
		t.Fatalf("locket %v: %d\n%s", args, code, out)
	}
	return out
}

// All through the commands: invite on one device, join on another, compare the words, and later
// recover from the phrase.
func TestPairByCommand(t *testing.T) {
	t.Setenv("LOCKET_CONFIG", "")
	url := serveRelay(t)
	dir := t.TempDir()
	one, two, three := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "three")
	shown := ok(t, one, "", "init", "--key-file", "--no-check", "--wearer", "Maja")
	config, err := os.OpenFile(filepath.Join(one, "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := config.WriteString("\n[sync]\nrelay = \"" + url + "\"\n"); err != nil {
		t.Fatal(err)
	}
	if err := config.Close(); err != nil {
		t.Fatal(err)
	}
	ok(t, one, "", "add", "--plain", "The spare key is at Ana's.")
	ok(t, one, "", "sync", "--now")

	read, write := io.Pipe()
	answers, answer := io.Pipe()
	var done sync.WaitGroup
	done.Go(func() {
		code := run(t.Context(), []string{"--home", one, "--set", "plugins.disabled=facts,speech,scene,secrets", "pair"}, answers, write, write, testDeps())
		if code != 0 {
			t.Errorf("pair: %d", code)
		}
		write.Close()
	})
	lines := bufio.NewScanner(read)
	joinLine, words := "", ""
	next := func(want func(string) bool) string {
		for lines.Scan() {
			if line := strings.TrimSpace(lines.Text()); want(line) {
				return line
			}
		}
		t.Error("pair ended early")
		return ""
	}
	joinLine = next(func(s string) bool { return strings.HasPrefix(s, "locket pair --join ") })
	f := strings.Fields(joinLine)
	if len(f) != 6 {
		t.Fatalf("%q", joinLine)
	}
	next(func(s string) bool {
		return strings.HasPrefix(s, "No other machine can reach 127.0.0.1:") && strings.Contains(s, "relay move URL")
	})
	var joined string
	done.Go(func() {
		joined = ok(t, two, "yes\n", "pair", "--join", f[3], "--relay", f[5], "--key-file")
	})
	words = next(func(s string) bool { return len(strings.Fields(s)) == 5 && !strings.ContainsAny(s, ".:?") })
	go io.Copy(io.Discard, read)
	if _, err := io.WriteString(answer, "yes\n"); err != nil {
		t.Error(err)
	}
	done.Wait()
	if words == "" || !strings.Contains(joined, words) {
		t.Errorf("words %q here; there\n%s", words, joined)
	}
	if out, code := locket(t, three, "yes\n", "pair", "--join", f[3], "--relay", f[5], "--key-file"); code != cli.ExitFailed ||
		!strings.Contains(out, "used already") || !strings.Contains(out, "Show a new code on the other device") || strings.Contains(out, "five words") {
		t.Errorf("a third with the same code: %d %s", code, out)
	}
	if _, err := os.Stat(three); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a home of the third: %v", err)
	}
	for _, list := range []string{"vault", "list", "ask where is the spare key"} {
		if out := ok(t, two, "", strings.Fields(list)...); !strings.Contains(out, "Nothing has come from your other devices yet. To fetch it now: ") {
			t.Errorf("%s, before anything has come: %s", list, out)
		}
	}
	ok(t, two, "", "sync", "--now")
	if out := ok(t, two, "", "vault"); !strings.Contains(out, "unless sync.vault = true is set there") {
		t.Errorf("a vault that others' secrets do not come to: %s", out)
	}
	if out := ok(t, two, "", "list"); !strings.Contains(out, "spare key") {
		t.Errorf("on the second: %s", out)
	}
	if out := ok(t, two, "", "devices"); strings.Count(out, "owner") != 2 || !strings.Contains(out, "this device") || strings.Count(out, runtime.GOOS+"/"+runtime.GOARCH) != 2 {
		t.Errorf("devices: %s", out)
	}
	if out := ok(t, one, "", "devices"); strings.Count(out, "  added ") != 1 || !strings.Contains(out, ", not heard from since\n") {
		t.Errorf("devices, before the second has said anything: %s", out)
	}
	ok(t, two, "", "add", "--plain", "The second speaks.")
	if out, code := locket(t, two, "", "sync", "status", "--watch"); code != cli.ExitFailed || !strings.Contains(out, "no daemon is running, so nothing is sent") {
		t.Errorf("watching what nobody does: %d %s", code, out)
	}
	ok(t, two, "", "sync", "--now")
	ok(t, one, "", "sync", "--now")
	if out := ok(t, one, "", "devices"); strings.Contains(out, "let in") || strings.Count(out, "  heard ") != 1 {
		t.Errorf("devices, after the second has spoken: %s", out)
	}
	if out, code := locket(t, two, "yes\n", "pair", "--join", f[3], "--relay", f[5], "--key-file"); code == 0 {
		t.Errorf("a home that is there joins: %s", out)
	}

	if out := ok(t, one, "", "rotate"); !strings.HasPrefix(out, "Epoch 2 has begun: ") || !strings.Contains(out, "next sync") {
		t.Errorf("rotate: %s", out)
	}
	if out := ok(t, two, "", "--json", "rotate"); out != `{"epoch":3}`+"\n" {
		t.Errorf("rotate, on the second: %s", out)
	}
	ok(t, two, "", "add", "--plain", "Sealed in the third epoch.")
	ok(t, two, "", "sync", "--now")
	ok(t, one, "", "sync", "--now")
	if out := ok(t, one, "", "list"); !strings.Contains(out, "spare key") || !strings.Contains(out, "third epoch") {
		t.Errorf("after two rotations: %s", out)
	}

	for line := range strings.Lines(ok(t, one, "", "devices")) {
		if strings.Contains(line, "this device") {
			continue
		}
		if out, code := locket(t, one, "\n", "devices", "remove", strings.Fields(line)[0]); code != cli.ExitFailed || !strings.Contains(out, "which only the 24 words can remove") {
			t.Errorf("remove a device without the words: %d %s", code, out)
		}
	}

	heads := ok(t, one, "", "devices", "compare")
	if out := ok(t, two, "", "devices", "compare", strings.TrimSpace(heads)); !strings.Contains(out, "the same history") {
		t.Errorf("compare: %s", out)
	}
	if out, code := locket(t, two, "", "devices", "compare", "hello"); code != 1 || !strings.Contains(out, "locket-heads-1") {
		t.Errorf("compare with what are no heads: %d %s", code, out)
	}
	ok(t, two, "", "add", "--plain", "The second goes on.")
	ok(t, two, "", "sync", "--now")
	if out := ok(t, two, "", "devices", "compare", strings.TrimSpace(heads)); !strings.Contains(out, "behind") || !strings.Contains(out, "have one history") {
		t.Errorf("compare with older heads: %s", out)
	}

	phrase := phraseOf(shown)
	if out, code := locket(t, three, phrase+"\n", "recover", "--relay", serveRelay(t), "--key-file"); code != cli.ExitFailed || !strings.Contains(out, "The relay knows no home with these words") {
		t.Errorf("from another relay: %d %s", code, out)
	}
	if out := ok(t, three, phrase+"\n", "recover", "--relay", url, "--key-file"); !strings.Contains(out, `Write wearer = "NAME"`) {
		t.Errorf("recovered, without a name: %s", out)
	}
	if b, err := os.ReadFile(filepath.Join(three, "config.toml")); err != nil || strings.Contains(string(b), "wearer") || !strings.Contains(string(b), "reserve = '1MB'") {
		t.Errorf("its settings: %s, %v", b, err)
	}
	ok(t, three, "", "sync", "--now")
	if out := ok(t, three, "", "list"); !strings.Contains(out, "spare key") {
		t.Errorf("recovered: %s", out)
	}
}

// phraseOf returns the 24 words that locket init shows.
func phraseOf(shown string) string {
	var phrase []string
	for _, w := range strings.Fields(shown[strings.Index(shown, "anywhere."):])[1:] {
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" && len(phrase) < 24 {
			phrase = append(phrase, w)
		}
	}
	return strings.Join(phrase, " ")
}

// Only the words delete the account at the relay. The home keeps its memories, and does not create
// the account again.
func TestRelayDelete(t *testing.T) {
	t.Setenv("LOCKET_CONFIG", "")
	url, home := serveRelay(t), filepath.Join(t.TempDir(), "home")
	phrase := phraseOf(ok(t, home, "", "init", "--key-file", "--no-check", "--wearer", "Maja", "--set", "sync.relay="+url)) + "\n"
	ok(t, home, "", "add", "--plain", "The spare key is at Ana's.")
	ok(t, home, "", "sync", "--now")
	fails := func(stdin, says string, args ...string) {
		t.Helper()
		if out, code := locket(t, home, stdin, args...); code != cli.ExitFailed || !strings.Contains(out, says) {
			t.Errorf("locket %v: %d %s", args, code, out)
		}
	}
	fails("", "no words", "relay", "delete", url)
	fails("one two\n", "the 24 words", "relay", "delete", url)
	fails(phrase, "has no account for these words", "relay", "delete", serveRelay(t), "--yes")
	fails(phrase, "To go ahead without being asked, add --yes.", "relay", "delete", url)
	fails(phrase+"no\n", "nothing was deleted", "relay", "delete", url)
	ok(t, home, "", "sync", "--now")
	if out := ok(t, home, phrase+"yes\n", "relay", "delete", url); !strings.Contains(out, "Deleted at "+url+": ") || !strings.Contains(out, " in 1 space, ") {
		t.Error(out)
	}
	fails("", "403", "sync", "--now")
	fails(phrase, "has no account for these words", "relay", "delete", url)
	if out := ok(t, home, "", "list"); !strings.Contains(out, "spare key") {
		t.Error(out)
	}
}

// The output says that a relay wants invitations, and tells a wrong code from a missing one.
func TestRelayWantsInvitation(t *testing.T) {
	t.Setenv("LOCKET_CONFIG", "")
	url := relaytest.Serve(t, t.TempDir(), relay.Config{Invite: true}, api.Config{}).URL
	home := filepath.Join(t.TempDir(), "home")
	ok(t, home, "", "init", "--key-file", "--no-check", "--wearer", "Maja")
	for says, args := range map[string][]string{
		"Ask the operator of the relay for a code":        {"relay", "add", url},
		"The relay does not know the code in sync.invite": {"relay", "add", url, "--set", "sync.invite=wrong"},
	} {
		if out, code := locket(t, home, "", args...); code != cli.ExitFailed || !strings.Contains(out, says) {
			t.Errorf("locket %v: %d %s", args, code, out)
		}
	}
}

// What a full relay lacks is shown, also by a command that has not tried to send it.
func TestSyncShowsWhatARelayLacks(t *testing.T) {
	t.Setenv("LOCKET_CONFIG", "")
	url := relaytest.Serve(t, t.TempDir(), relay.Config{Quota: relay.Quota{Bytes: 8000}}, api.Config{}).URL
	home := filepath.Join(t.TempDir(), "home")
	ok(t, home, "", "init", "--key-file", "--no-check", "--wearer", "Maja")
	ok(t, home, "", "relay", "add", url)
	if out := ok(t, home, "", "sync"); strings.Contains(out, "lacks") {
		t.Error(out)
	}
	ok(t, home, "", "add", "--plain", "The spare key is at Ana's.")
	if out, code := locket(t, home, "", "sync", "--now"); code != cli.ExitFailed || !strings.Contains(out, "quota is used up") {
		t.Errorf("%d %s", code, out)
	}
	if out := ok(t, home, "", "sync"); !strings.Contains(out, url+"  lacks 1 delta\n") {
		t.Error(out)
	}
}
