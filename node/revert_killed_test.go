package node

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/revert"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/delta"
)

// revertEnv holds, for a child process, what to revert and when to be killed:
// [reverting] as JSON.
const revertEnv = "LOCKET_NODE_TEST_REVERT"

// reverting is a revert that is killed just before it withdraws the Claim-th
// claim, or otherwise as soon as a line is gone.
type reverting struct {
	Home  string
	Claim int // 0: none
	Line  memory.ID
	Erase string // instead of reverting: a filter of what is to be erased
}

const revertID = "midst"

// reverts returns how many memories have lost their claims, and how many lines
// are left.
func reverts(ctx context.Context, n *Node) (taken, lines int, err error) {
	o, release, err := n.use()
	if err != nil {
		return 0, 0, err
	}
	defer release()
	err = o.store.View(ctx, func(tx *store.Tx) error {
		for a, err := range tx.AllAssertions() {
			if err != nil {
				return err
			}
			if revert.IsOfRevert(a, revertID) {
				taken++
			}
		}
		for _, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			lines++
		}
		return nil
	})
	return taken, lines, err
}

// runRevert reverts everything that workers said, until it is killed.
func runRevert() error {
	var r reverting
	if err := json.Unmarshal([]byte(os.Getenv(revertEnv)), &r); err != nil {
		return err
	}
	ctx := context.Background()
	n, err := openFlowing(ctx, r.Home)
	if err != nil {
		return err
	}
	me, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	o, release, err := n.use()
	if err != nil {
		return err
	}
	defer release()
	if r.Claim > 0 {
		said := 0
		o.engine.Clock().Now = func() time.Time { // called for each withdrawal
			if said++; said == r.Claim {
				_ = me.Kill() // it does not return
			}
			return time.Now()
		}
	}
	if !r.Line.IsZero() {
		go func() {
			for gone := false; !gone; {
				_ = o.store.View(ctx, func(tx *store.Tx) (err error) {
					gone, err = tx.Erased(r.Line)
					return err
				})
			}
			_ = me.Kill()
		}()
	}
	if r.Erase != "" {
		f, err := filter.Parse(r.Erase, time.UTC)
		if err != nil {
			return err
		}
		_, err = n.Services().Eraser.Erase(ctx, serve.EraseRequest{Filters: f})
		return fmt.Errorf("it ended by itself: %w", err)
	}
	_, err = n.Revert(ctx, serve.RevertRequest{Source: "worker", ID: revertID})
	return fmt.Errorf("it ended by itself: %w", err)
}

// A revert that is killed half-way, among the claims or among the lines,
// continues under its id and completes; an undo restores what both parts took.
func TestKilledRevertGoesOn(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	cfg, err := flowing(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Init(cfg, InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	const memories, lines = 4 * dream.Page, delta.MaxForget + 1 // more lines than one op may name
	open := func() *Node {
		t.Helper()
		n, err := openFlowing(t.Context(), home)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := open()
	var as []memory.Assertion
	for i := range memories {
		text := fmt.Sprintf("Sign %d", i)
		c := memory.Candidate{Type: memory.Resource, Text: text, Owner: memory.Owner{User: "x"}, Confidence: 1, Sensitivity: memory.Private,
			Source: memory.Source{Plugin: "worker/read", Model: "tesseract"}, Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "text/plain", Content: text}}}
		as = append(as, memory.Assertion{Memory: memory.ID{1, byte(i >> 8), byte(i)}, Act: memory.ActPropose, Candidate: &c, Source: c.Source})
	}
	var us []memory.Utterance
	for i := range lines {
		us = append(us, memory.Utterance{ID: memory.ID{2, byte(i >> 8), byte(i)}, Event: memory.EventID{Device: "pin", Boot: 1, Seq: 1}, Session: "s", At: time.Now().Add(-time.Hour),
			Text: fmt.Sprintf("Line %d", i), Source: memory.Source{Plugin: "worker/transcribe"}})
	}
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	err = o.sharing.TakeClaims(t.Context(), as, us)
	release()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	// First among the claims, then among the lines.
	claim := 1 + dream.Page + rand.IntN(memories-dream.Page)
	killRevert(t, reverting{Home: home, Claim: claim})
	n = open()
	if taken, left, err := reverts(t.Context(), n); err != nil || taken != (claim-1)/dream.Page*dream.Page || left != lines {
		t.Errorf("killed at claim %d: %d taken, %d lines left: %v", claim, taken, left, err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	killRevert(t, reverting{Home: home, Line: us[rand.IntN(lines/2)].ID})
	n = open()
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	if taken, left, err := reverts(t.Context(), n); err != nil || taken != memories || left == 0 || left == lines {
		t.Errorf("killed among the lines: %d taken, %d lines left: %v", taken, left, err)
	}
	if v, err := n.Revert(t.Context(), serve.RevertRequest{Source: "worker", ID: revertID}); err != nil || v.Claims != 0 {
		t.Errorf("gone on with: %+v, %v", v, err)
	}
	if taken, left, err := reverts(t.Context(), n); err != nil || taken != memories || left != 0 {
		t.Errorf("in the end: %d taken, %d lines left: %v", taken, left, err)
	}
	if v, err := n.Revert(t.Context(), serve.RevertRequest{Undo: revertID}); err != nil || v.Claims != memories {
		t.Errorf("undone: %d claims, %v", v.Claims, err)
	}
}

// killRevert has a process revert until it is killed.
func killRevert(t *testing.T, r reverting) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), revertEnv+"="+string(b))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil || stderr.Len() > 0 {
		t.Fatalf("%v: %s", err, stderr.String())
	}
}
