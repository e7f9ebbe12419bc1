package carry

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// What was dropped while the node was away is reported by the next start, if the node is still away
// at the end.
func TestDroppedIsReportedAtTheNextStart(t *testing.T) {
	state := open(t, filepath.Join(t.TempDir(), "state.json"))
	client, err := wear.Dial(wear.Config{URL: "tcp://127.0.0.1:1", Device: "pin", Window: Window, MaxWait: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	p := publisher{client: client, report: &Report{}, state: state, tell: func(Note) {}}
	for range roomLive + 2 {
		if _, _, err := p.live(t.Context(), &wire.Button{Header: wire.Header{At: time.Now()}, Gesture: "single"}); err != nil {
			t.Fatal(err)
		}
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := p.finish(over); err == nil {
		t.Error("the node has acknowledged")
	}
	var kept []unackedGap
	if err := state.Part(unackedPart, &kept); err != nil || len(kept) != 1 || !strings.Contains(kept[0].Reason, ": 2 messages dropped since") {
		t.Errorf("%+v, %v", kept, err)
	}
}

// The reason of a gap names files and topics in any script. It is cut between two characters, as the
// node takes no other text, and neither does the next start of the bridge.
func TestReasonIsCutBetweenCharacters(t *testing.T) {
	state := open(t, filepath.Join(t.TempDir(), "state.json"))
	client, err := wear.Dial(wear.Config{URL: "tcp://127.0.0.1:1", Device: "pin", Window: Window, MaxWait: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	p := publisher{client: client, report: &Report{}, state: state, tell: func(Note) {}, stored: map[*wear.Receipt]wire.Message{}}
	for cut := range 3 {
		if err := p.gap(t.Context(), time.Now(), strings.Repeat("x", cut)+strings.Repeat("录音", 100)); err != nil {
			t.Error(err)
		}
	}
	// An earlier version kept the bytes of half a character.
	p.unacked = append(p.unacked, unackedGap{Boot: 1, Seq: 1, At: time.Now(), Reason: strings.Repeat("x", wire.MaxReason-1) + "\ufffd"})
	if err := state.Keep(unackedPart, p.unacked); err != nil {
		t.Fatal(err)
	}
	next := publisher{client: client, report: &Report{}, state: state, tell: func(Note) {}}
	if err := next.resendUnacked(t.Context()); err != nil || client.Pending() != 7 {
		t.Errorf("%v, %d wait", err, client.Pending())
	}
}
