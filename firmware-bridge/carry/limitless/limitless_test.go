package limitless_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/limitless"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/limitless"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// custody checks what a pendant deletes: only pages whose sound is in the node.
type custody struct {
	mu      sync.Mutex
	deleted [][2]uint64
	wrong   []string
}

func watch(n *carrytest.Node, p *limitless.Pendant) *custody {
	c := &custody{}
	sound := map[uint64][]byte{}
	for _, page := range p.Pages() {
		for _, f := range page.Frames {
			sound[page.Index], _ = wire.AppendPacket(sound[page.Index], f)
		}
	}
	p.Deleted = func(from, to uint64) {
		have := map[string]bool{}
		for _, e := range n.Disk.OfKind(memory.KindAudio) {
			have[string(e.Data)] = true
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.deleted = append(c.deleted, [2]uint64{from, to})
		for i := from; i < to; i++ {
			if len(sound[i]) > 0 && !have[string(sound[i])] {
				c.wrong = append(c.wrong, fmt.Sprintf("page %d was deleted and is nowhere else", i))
			}
		}
	}
	return c
}

func (c *custody) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.wrong {
		t.Error(w)
	}
}

// once fails if a piece of stored sound is missing from the node, or there twice.
func once(t *testing.T, n *carrytest.Node, pages []frame.Page) {
	t.Helper()
	onceOf(t, n.Disk.OfKind(memory.KindAudio), pages)
}

func onceOf(t *testing.T, events []memory.Event, pages []frame.Page) {
	t.Helper()
	seen := map[string]int{}
	for _, e := range events {
		seen[string(e.Data)]++
	}
	for _, p := range pages {
		var want []byte
		for _, f := range p.Frames {
			want, _ = wire.AppendPacket(want, f)
		}
		if len(want) > 0 && seen[string(want)] != 1 {
			t.Errorf("page %d is there %d times", p.Index, seen[string(want)])
		}
	}
}

// calm is a FirstWait with which no download ends early, however late this machine runs the
// pendant: it would have to be silent for 30 times as long.
const calm = 100 * time.Millisecond

func run(t *testing.T, n *carrytest.Node, state string, d link.Dialer) (*carrytest.Bridge, carry.Report) {
	t.Helper()
	return runAt(t, n, state, d, time.Millisecond)
}

func runAt(t *testing.T, n *carrytest.Node, state string, d link.Dialer, pace time.Duration) (*carrytest.Bridge, carry.Report) {
	t.Helper()
	b := n.Bridge(t, state, limitless.Family, d)
	b.Cfg.FirstWait = pace
	b.Cfg.Options.Storage = true
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Waiting+rep.Refused+rep.Dropped != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	return b, rep
}

// Pages are deleted in batches of 25, and only once they are on the node's disk.
func TestPagesAreDeletedOnceStored(t *testing.T) {
	n := carrytest.NewNode(t)
	p := limitless.NewPendant(carry.Play{Amount: 70})
	pages := p.Pages()
	c := watch(n, p)
	goOn := n.Disk.Stop(t)
	p.Sent = goOn
	_, rep := runAt(t, n, carrytest.StatePath(t), p, calm)
	if rep.Records != 70 || rep.Presses != 1 {
		t.Errorf("%+v", rep)
	}
	c.check(t)
	once(t, n, pages)
	if got := fmt.Sprint(c.deleted); got != "[[1000 1025] [1025 1050] [1050 1070]]" {
		t.Errorf("deleted %s", got)
	}
}

// If the node takes nothing, a download ends early. Its rest stays in the pendant and is fetched
// later, and the session still hears what it is told.
func TestDownloadEndsWhileTheNodeIsAway(t *testing.T) {
	n := carrytest.NewNode(t)
	p := limitless.NewPendant(carry.Play{Amount: 3000})
	pages := p.Pages()
	c := watch(n, p)
	goOn := n.Disk.Stop(t)
	b := n.Bridge(t, carrytest.StatePath(t), limitless.Family, p)
	b.Cfg.Options.Storage, b.Cfg.FirstWait = true, calm
	var first sync.Once
	p.Sent = func() {
		first.Do(func() {
			if waits := b.Cfg.Client.Pending(); waits > carry.Window/2+100 {
				t.Errorf("%d messages wait for the node", waits)
			}
			goOn()
		})
	}
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Records != 3000 || rep.Waiting+rep.Refused+rep.Dropped != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	c.check(t)
	once(t, n, pages)
}

// Three in ten packets are lost, neighbours are swapped, and the connection breaks. What was
// deleted is in the node, once.
func TestBadRadio(t *testing.T) {
	n := carrytest.NewNode(t)
	p := limitless.NewPendant(carry.Play{Amount: 60, Reboot: 3, ClockOff: 3 * time.Hour})
	pages := p.Pages()
	c := watch(n, p)
	_, rep := run(t, n, carrytest.StatePath(t), &link.Faulty{Dialer: p, Loss: .3, Reorder: true, Rand: rand.New(rand.NewPCG(1, 2))})
	if rep.Lost == 0 || rep.Connections < 4 {
		t.Errorf("%+v", rep)
	}
	c.check(t)
	once(t, n, pages)
	if len(p.Pages()) != 0 {
		t.Errorf("%d pages are left", len(p.Pages()))
	}
}

// A page with unreadable sound stays in the pendant, and so do all pages behind it.
func TestUnreadablePageStays(t *testing.T) {
	n := carrytest.NewNode(t)
	p := limitless.NewPendant(carry.Play{Amount: 60})
	for _, f := range p.Pages()[40].Frames { // the frames are the pendant's own
		f[0] = 0
	}
	c := watch(n, p)
	b := n.Bridge(t, carrytest.StatePath(t), limitless.Family, p)
	b.Cfg.Options.Storage, b.Cfg.FirstWait = true, calm
	told := b.NoteWith("page 1040 did not come")
	stop := b.Start(t)
	carrytest.Await(t, told)
	stop()
	c.check(t)
	if got := fmt.Sprint(c.deleted); got != "[[1000 1025] [1025 1040]]" || len(p.Pages()) != 20 {
		t.Errorf("deleted %s, %d are left", got, len(p.Pages()))
	}
	if got := strings.Join(b.Notes("warning"), "\n"); !strings.Contains(got, "page 1040: limitless: a page with sound has no frame that can be read; it stays in the pendant") {
		t.Errorf("%s", got)
	}
}

// A restarted bridge continues where the node is.
func TestRestartContinues(t *testing.T) {
	n := carrytest.NewNode(t)
	p := limitless.NewPendant(carry.Play{Amount: 100})
	pages := p.Pages()
	c := watch(n, p)
	state := carrytest.StatePath(t)
	b := n.Bridge(t, state, limitless.Family, p)
	b.Cfg.Options.Storage, b.Cfg.FirstWait = true, calm
	told := b.NoteWith("pages 1000 to 1024 are with the node")
	stop := b.Start(t)
	carrytest.Await(t, told)
	stop()
	if err := b.Cfg.Client.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, n, state, p)
	c.check(t)
	// What was on its way when the first connection was closed may be on disk twice: the extractor
	// knows identities.
	known := map[memory.EventID]bool{}
	onceOf(t, slices.DeleteFunc(n.Disk.OfKind(memory.KindAudio), func(e memory.Event) bool {
		again := known[e.ID]
		known[e.ID] = true
		return again
	}), pages)
}

// Live sound, from a capture.
func TestLive(t *testing.T) {
	var capture bytes.Buffer
	const began = int64(1773489600000)
	add := func(ms int, packets ...[]byte) {
		for _, p := range packets {
			fmt.Fprintf(&capture, `{"t":%d,"char":"%s","hex":"%x"}`+"\n", began+int64(ms), frame.NotifyChar, p)
		}
	}
	opus := func(toc byte, i int) []byte { return append([]byte{toc}, []byte(fmt.Sprintf("packet %04d", i))...) }
	index := uint64(0)
	send := func(ms int, message []byte) { add(ms, frame.Split(index, message, 20)...); index++ }
	for i := range 60 {
		send(20*i, frame.AppendLive(nil, opus(0x78, i)))
	}
	send(1200, frame.AppendPress(nil, 3))
	send(1210, frame.AppendPage(nil, frame.Page{At: time.UnixMilli(began), Frames: [][]byte{opus(0xb0, 60), opus(0xb0, 61)}}))
	add(1220, []byte{0xff})
	fmt.Fprintf(&capture, `{"t":%d,"char":"%s","hex":"57"}`+"\n", began+1230, frame.BatteryChar)
	n := carrytest.NewNode(t)
	_, rep := carrytest.Play(t, n, limitless.Family, capture.Bytes())
	if rep.Frames != 62 || rep.Sound != 1220*time.Millisecond || rep.Presses != 1 || rep.Spoilt != 1 {
		t.Errorf("%+v", rep)
	}
	var got []string
	for _, e := range n.Disk.OfKind(memory.KindAudio) {
		list, err := wire.Packets(e.Data)
		if err != nil || e.Codec != "opus" {
			t.Error(err)
		}
		for _, p := range list {
			got = append(got, string(p[1:]))
		}
	}
	for i, s := range got {
		if s != fmt.Sprintf("packet %04d", i) {
			t.Errorf("%d: %q", i, s)
		}
	}
	if e := n.Disk.OfKind(memory.KindButton); len(got) != 62 || len(e) != 1 || e[0].Values[0] != 2 {
		t.Errorf("%d packets, %+v", len(got), e)
	}
	if e := n.Disk.OfKind(memory.KindGap); len(e) != 1 || !strings.Contains(e[0].Reason, "limitless: packet: a tag is cut off") {
		t.Errorf("%+v", e)
	}
	if e := n.Disk.OfKind(memory.KindSensor); len(e) != 1 || e[0].Values[0] != 87 {
		t.Errorf("%+v", e)
	}
}

// While the network costs by the byte, stored sound waits in the pendant, and the reason is
// reported.
func TestMetered(t *testing.T) {
	n := carrytest.NewNode(t)
	p := limitless.NewPendant(carry.Play{Amount: 50})
	pages := p.Pages()
	c := watch(n, p)
	state := carrytest.StatePath(t)
	b := n.Bridge(t, state, limitless.Family, p)
	var costly atomic.Bool
	costly.Store(true)
	asked := make(chan struct{}, 1)
	b.Cfg.Options.Storage, b.Cfg.FirstWait = true, calm/10
	b.Cfg.Options.Metered = func(context.Context) bool {
		select {
		case asked <- struct{}{}:
		default:
		}
		return costly.Load()
	}
	waits, goesOn, done := b.NoteWith("waits: stored sound: the network is metered"), b.NoteWith("it goes on with stored sound"), b.NoteWith("; 0 left")
	stop := b.Start(t)
	carrytest.Await(t, waits)
	<-asked
	carrytest.Await(t, asked) // the pendant is asked again, and nothing was fetched in between
	if why, err := carry.WaitReason(state); err != nil || why != "stored sound: the network is metered" {
		t.Errorf("%q, %v", why, err)
	}
	if got := n.Disk.OfKind(memory.KindAudio); len(got) > 0 {
		t.Errorf("%d pieces of sound were fetched", len(got))
	}
	costly.Store(false)
	carrytest.Await(t, goesOn)
	carrytest.Await(t, done)
	stop()
	if why, err := carry.WaitReason(state); err != nil || why != "" {
		t.Errorf("%q, %v", why, err)
	}
	c.check(t)
	once(t, n, pages)
}
