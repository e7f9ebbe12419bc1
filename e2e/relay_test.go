package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/serve"
)

// relay is a running locket-cloud serve, which keeps its address when it restarts.
type relay struct {
	t        *testing.T
	dir, url string
	flags    []string              // access and quotas
	begin    func(*exec.Cmd) error // starts it; nil: its Start
	cmd      *exec.Cmd
	log      *logbook.Book
}

// newRelay starts a relay that is open to all, unless flags say otherwise.
func newRelay(t *testing.T, flags ...string) *relay {
	t.Helper()
	if len(flags) == 0 {
		flags = []string{"--open"}
	}
	r := &relay{t: t, dir: filepath.Join(t.TempDir(), "relay"), url: "http://" + freeport.Addr(t), flags: flags, log: new(logbook.Book)}
	t.Cleanup(func() {
		if r.cmd != nil {
			r.kill()
		}
	})
	r.start()
	return r
}

// start starts it at its old address, if it had one.
func (r *relay) start() {
	r.t.Helper()
	if err := r.tryStart(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *relay) tryStart() error {
	store := []string{"--data", r.dir}
	if slices.Contains(r.flags, "--db") {
		store = nil // it has no folder
	}
	cmd := exec.Command(filepath.Join(bin, "locket-cloud"), slices.Concat([]string{"serve", "--listen", strings.TrimPrefix(r.url, "http://"), "--json"}, store, r.flags)...)
	cmd.Stderr = r.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := begin(cmd, r.begin); err != nil {
		return err
	}
	r.cmd = cmd
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var said struct {
		Listening string `json:"listening"`
	}
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil {
		return fmt.Errorf("locket-cloud serve: %w: %q\n%s", err, line, r.log)
	}
	r.url = said.Listening
	return nil
}

// kill ends it like a power cut; if it had ended by itself, that is an error.
func (r *relay) kill() {
	r.t.Helper()
	r.cmd.Process.Signal(syscall.SIGKILL)
	r.cmd.Wait()
	if ws, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		r.t.Errorf("locket-cloud serve ended by itself: %v\n%s", r.cmd.ProcessState, r.log)
	}
	r.cmd = nil
}

// cloud runs a command of locket-cloud that has to succeed.
func cloud(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "locket-cloud"), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("locket-cloud %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

// talk is a command with --json that asks a person something.
type talk struct {
	t    *testing.T
	args string
	cmd  *exec.Cmd
	in   io.Writer
	out  *bufio.Reader
	errs *logbook.Book
}

func (h *home) talk(args ...string) *talk {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	h.t.Cleanup(cancel)
	k := &talk{t: h.t, args: strings.Join(args, " "), errs: new(logbook.Book),
		cmd: exec.CommandContext(ctx, filepath.Join(bin, "locket"), append([]string{"--home", h.dir, "--json"}, args...)...)}
	k.cmd.Env, k.cmd.Stderr = append(os.Environ(), h.env...), k.errs
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	k.out = bufio.NewReader(out)
	if k.in, err = k.cmd.StdinPipe(); err != nil {
		h.t.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	return k
}

// hear reads the next object that it prints.
func (k *talk) hear(v any) {
	k.t.Helper()
	line, err := k.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, v)
	}
	if err != nil {
		k.t.Fatalf("locket %s: %v: %q\n%s", k.args, err, line, k.errs)
	}
}

func (k *talk) answer(text string) {
	k.t.Helper()
	if _, err := io.WriteString(k.in, text+"\n"); err != nil {
		k.t.Fatalf("locket %s: %v\n%s", k.args, err, k.errs)
	}
}

func (k *talk) end() {
	k.t.Helper()
	if err := k.cmd.Wait(); err != nil {
		k.t.Fatalf("locket %s: %v\n%s", k.args, err, k.errs)
	}
}

// letIn pairs a new device with a home whose daemon runs: both show the same words, and a person
// confirms on both. It returns the new home, where no daemon runs yet.
func (h *home) letIn(name string) *home {
	h.t.Helper()
	other := &home{t: h.t, dir: filepath.Join(h.t.TempDir(), name), run: []string{"--set", "broker.listen=127.0.0.1:0", "--set", "disk.reserve=32MB"}}
	if err := os.MkdirAll(other.dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	var invite, here, there, done serve.Pairing
	asks := h.talk("pair")
	asks.hear(&invite)
	joins := other.talk("pair", "--join", invite.Link, "--key-file")
	asks.hear(&here)
	joins.hear(&there)
	if len(here.Words) != 5 || !slices.Equal(here.Words, there.Words) {
		h.t.Fatalf("pairing: the words are %v here and %v there", here.Words, there.Words)
	}
	asks.answer("yes")
	joins.answer("yes")
	asks.hear(&done)
	if done.State != serve.PairDone {
		h.t.Fatalf("pairing: %+v", done)
	}
	var made struct {
		Config string `json:"config"`
	}
	joins.hear(&made)
	asks.end()
	joins.end()
	if !exists(made.Config) {
		h.t.Fatalf("pairing: no settings in %q", made.Config)
	}
	return other
}

// holdings returns what a home exports, except for secrets, which are not synced.
func (h *home) holdings() map[string]bool {
	h.t.Helper()
	out, of, secret := map[string]bool{}, map[string]memory.ID{}, map[memory.ID]bool{}
	for line := range strings.Lines(h.must("export")) {
		var r record
		mustParse(h.t, line, &r)
		switch r.Kind {
		case archive.KindAssertion:
			var a memory.Assertion
			mustParse(h.t, string(r.Data), &a)
			of[line] = a.Memory
			if a.Candidate != nil && a.Candidate.Type == memory.Vault {
				secret[a.Memory] = true
			}
			out[line] = true
		case archive.KindUtterance:
			out[line] = true
		}
	}
	maps.DeleteFunc(out, func(line string, _ bool) bool { return secret[of[line]] })
	return out
}

// converge waits until both homes, whose daemons run, hold the same, and returns that.
func converge(t *testing.T, one, two *home, enough func(map[string]bool) bool) (have map[string]bool) {
	t.Helper()
	var other map[string]bool
	same := false
	defer func() {
		if !same {
			t.Logf("only here %s\nonly there %s", less(have, other), less(other, have))
			for _, h := range []*home{one, two} {
				out, _, _ := h.try("sync")
				t.Logf("%s\n%s%s", filepath.Base(h.dir), out, h.d.log)
			}
		}
	}()
	until(t, filepath.Base(one.dir)+" and "+filepath.Base(two.dir)+" hold the same", func() bool {
		for _, h := range []*home{one, two} {
			h.try("sync", "--now")
		}
		have, other = one.holdings(), two.holdings()
		same = enough(have) && maps.Equal(have, other)
		return same
	})
	return have
}

// less says how many lines of one are missing in other, and names three of them.
func less(one, other map[string]bool) string {
	var only []string
	for line := range one {
		if !other[line] {
			only = append(only, line)
		}
	}
	slices.Sort(only)
	return fmt.Sprintf("%d:\n%s", len(only), strings.Join(only[:min(3, len(only))], ""))
}

// knows checks that what was acknowledged to a device is there.
func (h *home) knows(rs []*wear.Receipt) {
	h.t.Helper()
	have := h.utterances()
	for i, r := range rs {
		if have[r.ID] != sentence(i) {
			h.t.Errorf("sentence %d of %d was acknowledged, and is not on the %s: %q", i, len(rs), filepath.Base(h.dir), have[r.ID])
		}
	}
}

// Whatever was acknowledged to a device reaches every device of the wearer, although the relay is
// killed while they sync: those that were there, and one that joins afterwards, which can only get
// it from the relay.
func TestRelayKilled(t *testing.T) {
	r := newRelay(t)
	glasses := newHome(t, "--listen", freeport.Addr(t), "--set", "sync.relay="+r.url)
	d := glasses.start()
	phone := glasses.letIn("phone")
	phone.start()
	c := glasses.addDevice("pin")
	pin := wearable(t, d.broker, c.Name, c.Password)

	quiet := talking(t, pin, 20*time.Millisecond)
	chance := rand.New(rand.NewPCG(3, 4))
	var typed []string
	for range 3 {
		before := len(phone.utterances())
		until(t, "the phone hears something new", func() bool { return len(phone.utterances()) > before })
		typed = append(typed, sentence(1000+before))
		phone.must("add", "--plain", typed[len(typed)-1])
		wait(time.Duration(chance.IntN(1500)) * time.Millisecond)
		r.kill()
		wait(time.Duration(chance.IntN(500)) * time.Millisecond)
		r.start()
	}
	rs := quiet()
	acknowledged(t, rs...)

	whole := func(have map[string]bool) bool { return len(have) >= len(rs)+len(typed) }
	// Sentences become memories, too, so a number of records equal to that of sentences does not
	// mean that all have come.
	until(t, "the phone hears the last sentence", func() bool { return phone.utterances()[rs[len(rs)-1].ID] != "" })
	have := converge(t, glasses, phone, whole)
	phone.knows(rs)
	list := glasses.must("list")
	for _, text := range typed {
		if !strings.Contains(list, text) {
			t.Errorf("typed on the phone, and not on the glasses: %q", text)
		}
	}
	late := glasses.letIn("tablet")
	late.start()
	if after := converge(t, phone, late, whole); !maps.Equal(after, have) {
		t.Errorf("%d records before the tablet came, %d after", len(have), len(after))
	}
	t.Logf("%d sentences, %d records on three devices, 3 kills of the relay", len(rs), len(have))
}
