package carry_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/carry/xiaozhi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// heardLive are the families whose devices keep nothing. A WebSocket and a TCP connection lose nothing on
// the way; glasses on Bluetooth do.
var heardLive = map[string]struct {
	family carry.Family
	loss   float64
	frame  func(id uint64) []byte
	second int // frames
}{
	"xiaozhi": {xiaozhi.Family, 0, func(id uint64) []byte { return append([]byte{0x58}, marked(id, 12)...) }, 17},
	// 5 ms, and loud: after 30 s, or 1.5 s of quiet, the satellite has said what it had to.
	"wyoming":   {wyoming.Family, 0, func(id uint64) []byte { return append(marked(id, 12), bytes.Repeat([]byte{0, 64, 0, 192}, 37)...) }, 200},
	"brilliant": {brilliant.Family, .3, func(id uint64) []byte { return marked(id, 240) }, 67},
}

const (
	mark      = "\xa5\x5a\xc3\x3c" // before a frame's number
	liveRound = 4000               // frames that a device hears, for each start of the bridge
)

// marked is a frame of so many bytes that says which it is.
func marked(id uint64, size int) []byte {
	b := make([]byte, size)
	copy(b, mark)
	binary.BigEndian.PutUint64(b[4:], id)
	return b
}

// marks are the frames in some bytes.
func marks(b []byte) (ids []uint64) {
	for {
		_, rest, found := bytes.Cut(b, []byte(mark))
		if !found || len(rest) < 8 {
			return ids
		}
		ids, b = append(ids, binary.BigEndian.Uint64(rest)), rest[8:]
	}
}

// overheard is a Dialer that writes on standard output which frames are given to the session.
type overheard struct{ link.Dialer }

type overheardDevice struct {
	link.Device
	out  chan link.Notification
	stop chan struct{}
}

func (o overheard) Connect(ctx context.Context) (link.Device, error) {
	d, err := o.Dialer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &overheardDevice{d, make(chan link.Notification), make(chan struct{})}
	go func() {
		defer close(w.out)
		for n := range d.Notifications() {
			for _, id := range marks(n.Data) {
				fmt.Println(id)
			}
			select {
			case w.out <- n:
			case <-w.stop:
				return
			}
		}
	}()
	return w, nil
}

func (d *overheardDevice) Notifications() <-chan link.Notification { return d.out }

func (d *overheardDevice) Close() error {
	close(d.stop)
	return d.Device.Close()
}

// killedLive is a bridge whose device hears one round's frames, and then waits to be killed; without a
// round it sends what an earlier one left. secret is the password, the round and the family.
func killedLive(dir, at, secret string) error {
	var password, name string
	var round int
	if _, err := fmt.Sscan(secret, &password, &round, &name); err != nil {
		return err
	}
	k := heardLive[name]
	key := make(chan error, 8)
	state, s, lost, c, err := begun(wear.Config{URL: "tcp://" + at, Password: password, MaxWait: 50 * time.Millisecond}, dir, func(err error) { key <- err })
	// A kill may cut the write of the last message.
	lost = slices.DeleteFunc(lost, func(s string) bool { return strings.HasSuffix(s, "bytes are no whole entry") })
	if err != nil || len(lost) > 0 {
		return fmt.Errorf("%v, %v", lost, err)
	}
	if err := <-key; err != nil {
		return err
	}
	var d link.Dialer = over{}
	if round >= 0 {
		day := carry.Scene{Event: memory.Event{Kind: memory.KindAudio}}
		for i := range liveRound {
			day.Frames = append(day.Frames, k.frame(uint64(round*liveRound+i)))
		}
		d = k.family.Simulate(carry.Play{Day: []carry.Scene{day}})
		if k.loss > 0 {
			d = &link.Faulty{Dialer: d, Loss: k.loss, Reorder: true, Rand: rand.New(rand.NewPCG(uint64(round), 1))}
		}
		d = overheard{d}
	}
	rep, err := carry.Run(context.Background(), carry.Config{Dialer: d, Client: c, State: state, Family: k.family, Spool: s, FirstWait: time.Millisecond})
	if err == nil && round < 0 && rep.Waiting+rep.Refused+rep.Dropped > 0 {
		err = fmt.Errorf("%+v", rep)
	}
	if err != nil || round < 0 {
		return err
	}
	os.Stdout.Close() // the device has said all
	select {}         // until it is killed
}

// over is a link that has no connections.
type over struct{}

func (over) Connect(context.Context) (link.Device, error) { return nil, io.EOF }

// A bridge that hears a live device is killed again and again, and the node with it now and then: what the
// session was given is in the node, once, but for what was no message yet, at most the last second before a
// kill, and each of those is told of. KILLS has it go on for so many rounds.
func TestKilledLive(t *testing.T) {
	for name := range heardLive {
		t.Run(name, func(t *testing.T) { killLive(t, name) })
	}
}

func killLive(t *testing.T, name string) {
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		rounds = n
	}
	k := heardLive[name]
	dir := t.TempDir()
	seed := seal.NewKey()
	cred, hash, err := intake.NewDevice("pin")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	begin := func(role, secret string) (*exec.Cmd, *bufio.Reader) {
		t.Helper()
		cmd := exec.CommandContext(carrytest.Deadline(t), os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), "KILLED_ROLE="+role, "KILLED_DIR="+dir, "KILLED_AT="+at, "KILLED_SECRET="+secret)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		return cmd, bufio.NewReader(out)
	}
	var node *exec.Cmd
	kill := func(cmd *exec.Cmd) {
		t.Helper()
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
	}
	serve := func() {
		t.Helper()
		if node != nil {
			return
		}
		var out *bufio.Reader
		node, out = begin("node", hex.EncodeToString(seed.Bytes())+" "+hash)
		if line, err := out.ReadString('\n'); line != "ready\n" {
			t.Fatalf("the node says %q, %v", line, err)
		}
	}
	dice := rand.New(rand.NewPCG(7, 3))
	given := make([][]uint64, rounds) // to the session, by round
	nodes := 0                        // killed
	for round := range rounds {
		serve()
		cmd, out := begin("live", fmt.Sprintf("%s %d %s", cred.Password, round, name))
		until := 1 + dice.IntN(liveRound/2)
		nodeAt := -1
		if round%2 == 1 {
			nodeAt = dice.IntN(until)
		}
		for {
			line, err := out.ReadString('\n')
			if err != nil {
				break // it was killed, or all was said
			}
			id, err := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
			if err != nil {
				t.Fatalf("round %d: the bridge says %q", round, line)
			}
			given[round] = append(given[round], id)
			switch len(given[round]) {
			case nodeAt:
				kill(node)
				node = nil
				nodes++
			case until:
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Process.Kill() // where all was said before
		_ = cmd.Wait()
	}
	serve()
	last, out := begin("live", fmt.Sprintf("%s -1 %s", cred.Password, name))
	rest, _ := io.ReadAll(out)
	if err := last.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, rest)
	}
	kill(node)

	heard, gaps := liveJournal(t, dir, seal.IdentityFromSeed(seed))
	if gaps != rounds {
		t.Errorf("%d gaps tell of %d kills", gaps, rounds)
	}
	frames, missing := 0, 0
	for round, ids := range given {
		tail := true // going back from the end, nothing was in the node so far
		short := 0
		for i := len(ids) - 1; i >= 0; i-- {
			frames++
			switch n := heard[ids[i]]; {
			case n == 1:
				tail = false
			case n == 0 && tail:
				short++
			default:
				t.Fatalf("round %d: frame %d of %d is in the node %d times", round, i, len(ids), n)
			}
		}
		if short > k.second+3 { // what was no message yet, and what was on its way to the session
			t.Errorf("round %d: the last %d frames are missing, more than a second", round, short)
		}
		missing += short
	}
	if len(heard) != frames-missing {
		t.Errorf("%d frames are in the node, of %d", len(heard), frames-missing)
	}
	t.Logf("%d frames over %d kills of the bridge and %d of the node; %d of the last seconds before a kill are missing", frames, rounds, nodes, missing)
}

// liveJournal gives how often each frame is in a node's journal, by identity, and how many gaps tell of an end.
func liveJournal(t *testing.T, dir string, id *seal.Identity) (heard map[uint64]int, gaps int) {
	t.Helper()
	j, err := journal.Open(filepath.Join(dir, "journal"), id.Recipient(), journal.Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r, err := j.Reader(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	heard = map[uint64]int{}
	once := map[memory.EventID]bool{}
	for last := j.Stats().Last; ; {
		entry, err := r.Next(carrytest.Deadline(t))
		if err != nil {
			t.Fatal(err)
		}
		var e memory.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			t.Fatal(err)
		}
		e = opened(t, id, e)
		if !once[e.ID] {
			once[e.ID] = true // the extractor knows identities
			if e.Kind == memory.KindAudio {
				for _, id := range marks(e.Data) {
					heard[id]++
				}
			}
			if e.Kind == memory.KindGap && strings.Contains(e.Reason, "ended before it could tell") {
				gaps++
			}
		}
		if entry.Seq >= last {
			return heard, gaps
		}
	}
}

// opened is an event as the extractor sees it.
func opened(t *testing.T, id *seal.Identity, e memory.Event) memory.Event {
	t.Helper()
	if e.Kind != memory.KindSealed {
		return e
	}
	b, err := seal.OpenWith(id, e.Data)
	if err != nil {
		t.Fatal(err)
	}
	m, err := wire.Unwrap(b)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Event(e.ID.Device, m, e.Received, nil)
}
