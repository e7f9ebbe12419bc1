package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

// A replay that is killed leaves a login, and the next one replaces it; SIGHUP leaves none. The
// login that the wearer has made is not touched.
func TestKilledReplayLeavesALogin(t *testing.T) {
	// If SIGHUP is ignored, as under nohup, a child process ignores it, too, unless its parent
	// handles it.
	hung := make(chan os.Signal, 1)
	signal.Notify(hung, syscall.SIGHUP)
	defer signal.Stop(hung)
	dir := t.TempDir()
	home, d := filepath.Join(dir, "home"), testDeps()
	locket := func(args ...string) (code int, out, problems string) {
		var o, p strings.Builder
		code = run(t.Context(), append([]string{"--home", home}, args...), strings.NewReader(""), &o, &p, d)
		return code, o.String(), p.String()
	}
	wearables := func() string {
		_, out, _ := locket("wearable", "list", "--json")
		return out
	}
	if code, _, problems := locket("init", "--key-file", "--no-check"); code != 0 {
		t.Fatal(problems)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, told := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"--home", home, "--json", "run"}, strings.NewReader(""), told, io.Discard, d)
		told.Close()
	}()
	defer func() { stop(); <-ended }()
	if n, err := ready.Read(make([]byte, 4096)); err != nil || n == 0 {
		t.Fatal("the daemon does not say that it is ready: ", err)
	}
	go io.Copy(io.Discard, ready)

	long, short := filepath.Join(dir, "long.jsonl"), filepath.Join(dir, "short.txt")
	for file, text := range map[string]string{short: "Ann likes tea.", long: `{"kind": "day", "date": "2026-09-14", "zone": "UTC", "wearer": "Mei"}
{"at": "2026-09-14T07:00:00Z", "kind": "text", "device": "pin", "speaker": "Ann", "lang": "en", "text": "Morning."}
{"at": "2026-09-14T19:00:00Z", "kind": "text", "device": "pin", "speaker": "Ann", "lang": "en", "text": "Evening."}
`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A replay shows how many events are published, and says so when it is interrupted.
	playing, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	shown, errs := io.Pipe()
	interrupted := make(chan int, 1)
	go func() {
		interrupted <- run(playing, []string{"--home", home, "--json", "replay", "--speed", "1", long}, strings.NewReader(""), io.Discard, errs, d)
		errs.Close()
	}()
	said := ""
	for in := bufio.NewScanner(shown); in.Scan(); {
		if said = in.Text(); strings.Contains(said, `"done":1,"total":2,`) {
			interrupt()
		}
	}
	if code := <-interrupted; code != cli.ExitFailed || !strings.Contains(said, "interrupted") || !strings.Contains(said, "At least 1 of 2 events reached the node, and stay there.") {
		t.Errorf("interrupted: %d, %s", code, said)
	}
	// dies starts a replay of twelve hours, and ends it with a signal once it has connected.
	dies := func(by os.Signal) {
		t.Helper()
		path, err := exec.LookPath("locket")
		if err != nil {
			t.Fatal(err)
		}
		var problems bytes.Buffer
		c := exec.CommandContext(t.Context(), path, "--home", home, "replay", "--speed", "1", long)
		c.Env, c.Stderr = append(os.Environ(), cheapHome...), &problems
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		died := make(chan error, 1)
		go func() { died <- c.Wait() }()
		for !strings.Contains(wearables(), `"connected":true`) {
			select {
			case err := <-died:
				t.Fatalf("the replay ends: %v: %s", err, problems.String())
			default:
			}
		}
		if code, _, problems := locket("replay", "--device", "pin", short); code == 0 || !strings.Contains(problems, "pin already has credentials") {
			t.Errorf("a second replay beside the first: %d, %s", code, problems)
		}
		if err := c.Process.Signal(by); err != nil {
			t.Fatal(err)
		}
		<-died
		for strings.Contains(wearables(), `"connected":true`) { // until the broker has noticed
		}
	}
	dies(syscall.SIGKILL)
	if !strings.Contains(wearables(), `"name":"pin"`) {
		t.Error("a replay that was killed left no login, and this test is none")
	}
	if code, _, problems := locket("replay", "--device", "pin", short); code != 0 {
		t.Errorf("after one that was killed: %d, %s", code, problems)
	}
	dies(syscall.SIGHUP)
	if left := wearables(); strings.Contains(left, "pin") {
		t.Errorf("after SIGHUP there is %s", left)
	}
	code, added, problems := locket("wearable", "add", "pin", "--json")
	if code != 0 {
		t.Fatal(problems)
	}
	if code, _, problems := locket("replay", "--device", "pin", short); code != cli.ExitFailed || !strings.Contains(problems, "give its password with --password-file") || !strings.Contains(problems, "--device NAME") || !strings.Contains(problems, "--home DIR init") {
		t.Errorf("as the wearer's own: %d, %s", code, problems)
	}
	if left := wearables(); !strings.Contains(left, `"name":"pin"`) {
		t.Errorf("of the wearer's own login there is %q", left)
	}

	// With its password it can be replayed, together with devices without credentials.
	var pin serve.DeviceCredentials
	if err := json.Unmarshal([]byte(added), &pin); err != nil {
		t.Fatal(err)
	}
	pass, both := filepath.Join(dir, "pin.password"), filepath.Join(dir, "both.jsonl")
	for file, text := range map[string]string{pass: string(pin.Password) + "\n", both: `{"kind": "day", "date": "2026-09-15", "zone": "UTC", "wearer": "Mei"}
{"at": "2026-09-15T07:00:00Z", "kind": "text", "device": "pin", "speaker": "Ann", "lang": "en", "text": "Morning."}
{"at": "2026-09-15T07:00:01Z", "kind": "text", "device": "cap", "speaker": "Ann", "lang": "en", "text": "Hello."}
`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, problems := locket("replay", "--password-file", pass, both); code != 0 || !strings.Contains(out, "2 acknowledged") {
		t.Errorf("with its password: %d, %s%s", code, out, problems)
	}
	if left := wearables(); !strings.Contains(left, `"name":"pin"`) || strings.Contains(left, "cap") {
		t.Errorf("after both there is %q", left)
	}
}
