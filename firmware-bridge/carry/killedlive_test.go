package carry_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/carry/friend"
	"github.com/locket-dev/locket/firmware-bridge/carry/g1"
	"github.com/locket-dev/locket/firmware-bridge/carry/halo"
	"github.com/locket-dev/locket/firmware-bridge/carry/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/carry/xiaozhi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
)

// live is a family whose devices keep nothing.
type live struct {
	family  carry.Family
	loss    float64                                                       // share of what the device sends that is lost
	reorder bool                                                          // neighbours are swapped
	size    int                                                           // frames that a device hears in a round
	device  func(round int) link.Dialer                                   // makes the device that hears a round's frames
	ids     func(round int, d link.Dialer) func(b []byte) []uint64        // returns the frames in a notification
	order   func(given []uint64) []uint64                                 // their order in the node; nil: as given
	last    func(*carry.State) link.Dialer                                // the link of the last start, on which nothing is heard; nil: it has no connections
	killed  int                                                           // frames that a kill may lose: those that are no message yet, and those on their way to the session
	heard   func(t *testing.T, h *house, given [][]uint64) map[uint64]int // how often each frame is in the node
}

// heardLive are those families. A WebSocket and a TCP connection lose nothing; glasses on Bluetooth
// do.
var heardLive = map[string]live{
	"xiaozhi": marking(xiaozhi.Family, 0, 17, ofXiaozhi),
	// 5 ms, and loud: after 30 s, or 1.5 s of quiet, the satellite's utterance is over.
	"wyoming":   marking(wyoming.Family, 0, 200, func(id uint64) []byte { return append(marked(id, 12), bytes.Repeat([]byte{0, 64, 0, 192}, 37)...) }),
	"brilliant": marking(brilliant.Family, .3, 67, func(id uint64) []byte { return marked(id, 240) }),
	"friend":    decoding(friend.Family, true, 0),
	"halo":      decoding(halo.Family, true, 2),
	// It numbers its packets, and takes a late one for a lost one.
	"g1":          decoding(g1.Family, false, 2),
	"xiaozhi-udp": byDatagrams,
	"frigate":     byCameras,
}

// hearing makes the device of a family, which hears frames.
func hearing(f carry.Family, play carry.Play, frames func(round int) [][]byte) func(round int) link.Dialer {
	return func(round int) link.Dialer {
		p := play
		p.Day, p.Reboot = make([]carry.Scene, liveParts), liveParts-1
		for i, f := range frames(round) {
			s := &p.Day[i*liveParts/liveRound]
			s.Kind, s.Frames = memory.KindAudio, append(s.Frames, f)
		}
		return f.Simulate(p)
	}
}

// marking is a family whose sound reaches the node unchanged, in frames that carry their number;
// second is how many frames last a second.
func marking(f carry.Family, loss float64, second int, frame func(id uint64) []byte) live {
	return live{
		family: f, loss: loss, reorder: true, size: liveRound, killed: second + 3,
		device: hearing(f, carry.Play{}, numbered(frame)),
		ids:    func(int, link.Dialer) func([]byte) []uint64 { return marks },
		heard: func(t *testing.T, h *house, _ [][]uint64) map[uint64]int {
			heard := map[uint64]int{}
			h.once(t, func(e *memory.Event) {
				if e.Kind == memory.KindAudio {
					for _, id := range marks(e.Data) {
						heard[id]++
					}
				}
			})
			return heard
		},
	}
}

// numbered returns a function that makes a round's frames from their numbers.
func numbered(frame func(id uint64) []byte) func(round int) [][]byte {
	return func(round int) (out [][]byte) {
		for i := range liveRound {
			out = append(out, frame(uint64(round*liveRound+i)))
		}
		return out
	}
}

// ofXiaozhi makes a packet of 60 ms.
func ofXiaozhi(id uint64) []byte { return append([]byte{0x58}, marked(id, 12)...) }

const (
	mark      = "\xa5\x5a\xc3\x3c" // precedes a frame's number
	liveRound = 4000               // frames that a device hears, for each start of the bridge
	liveParts = 4                  // connections over which it hears them
	liveCut   = 700                // frames after which a connection ends in the middle
)

// marked makes a frame of size bytes that carries its number.
func marked(id uint64, size int) []byte {
	b := make([]byte, size)
	copy(b, mark)
	binary.BigEndian.PutUint64(b[4:], id)
	return b
}

// marks returns the numbers of the frames in b.
func marks(b []byte) (ids []uint64) {
	for {
		_, rest, found := bytes.Cut(b, []byte(mark))
		if !found || len(rest) < 8 {
			return ids
		}
		ids, b = append(ids, binary.BigEndian.Uint64(rest)), rest[8:]
	}
}

// overheard is a Dialer that writes the frames that the session gets to standard output. After
// liveCut frames a connection ends without notice, as if the device restarted.
type overheard struct {
	link.Dialer
	ids func(b []byte) []uint64
}

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
		for frames := 0; frames < liveCut; {
			n, ok := <-d.Notifications()
			if !ok {
				return
			}
			for _, id := range o.ids(n.Data) {
				fmt.Println(id)
				frames++
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

// killedLive is a bridge whose device hears one round's frames, and which then waits to be killed.
// Without a round it sends what an earlier one left. secret is the password, the round and the
// family.
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
	lost = slices.DeleteFunc(lost, func(s string) bool { return strings.HasSuffix(s, "bytes are not a whole entry") })
	if err != nil || len(lost) > 0 {
		return fmt.Errorf("%v, %v", lost, err)
	}
	if err := <-key; err != nil {
		return err
	}
	var d link.Dialer = over{}
	if round >= 0 {
		d = k.device(round)
		ids := k.ids(round, d)
		if k.loss > 0 {
			d = &link.Faulty{Dialer: d, Loss: k.loss, Reorder: k.reorder, Rand: rand.New(rand.NewPCG(uint64(round), 1))}
		}
		d = overheard{d, ids}
	} else if k.last != nil {
		d = k.last(state)
	}
	cfg := carry.Config{Dialer: d, Client: c, State: state, Family: k.family, Options: carry.Options{Prefix: k.family.Prefix}, Spool: s, FirstWait: time.Millisecond}
	if told, ok := d.(interface{ told(carry.Note) }); ok {
		cfg.OnNote = told.told
	}
	rep, err := carry.Run(context.Background(), cfg)
	if err == nil && round < 0 && rep.Waiting+rep.Refused+rep.Dropped > 0 {
		err = fmt.Errorf("%+v", rep)
	}
	if err != nil || round < 0 {
		return err
	}
	os.Stdout.Close() // the device has sent everything
	select {}         // until it is killed
}

// over is a link without connections.
type over struct{}

func (over) Connect(context.Context) (link.Device, error) { return nil, io.EOF }

// A bridge with a live device, which restarts three times, is killed again and again, and now and
// then the node, too. What the session was given is in the node, once, except for what was no
// message yet: at most the last second before a kill, and each of those losses is reported. KILLS
// sets the number of rounds.
func TestKilledLive(t *testing.T) {
	for name := range heardLive {
		t.Run(name, func(t *testing.T) { killLive(t, name) })
	}
}

func killLive(t *testing.T, name string) {
	rounds := number("KILLS", 3)
	k := heardLive[name]
	h := newHouse(t)
	// begin starts a process, and returns it with a reader of its output.
	begin := func(start func(out io.Writer) *running) (*running, *bufio.Reader) {
		t.Helper()
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close() })
		defer out.Close()
		return start(out), bufio.NewReader(in)
	}
	live := func(round int) (*running, *bufio.Reader) {
		t.Helper()
		return begin(func(out io.Writer) *running {
			return h.run(t, "live", fmt.Sprintf("%s %d %s", h.password, round, name), out)
		})
	}
	var node *running
	serve := func() {
		t.Helper()
		if node != nil {
			return
		}
		var out *bufio.Reader
		node, out = begin(func(out io.Writer) *running { return h.node(t, out) })
		if line, err := out.ReadString('\n'); line != "ready\n" {
			t.Fatalf("the node says %q, %v", line, err)
		}
	}
	dice := rand.New(rand.NewPCG(7, 3))
	given := make([][]uint64, rounds) // frames given to the session, by round
	nodes := 0                        // killed nodes
	for round := range rounds {
		serve()
		bridge, out := live(round)
		until := 1 + dice.IntN(k.size/2)
		nodeAt := -1
		if round%2 == 1 {
			nodeAt = dice.IntN(until)
		}
		for {
			line, err := out.ReadString('\n')
			if err != nil {
				break // it was killed, or everything was sent
			}
			id, err := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
			if err != nil {
				t.Fatalf("round %d: the bridge says %q", round, line)
			}
			given[round] = append(given[round], id)
			switch len(given[round]) {
			case nodeAt:
				node.kill(t)
				node = nil
				nodes++
			case until:
				if err := bridge.cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if exited, err := bridge.kill(t); exited {
			t.Fatalf("round %d: the bridge ended by itself: %v\n%s", round, err, &bridge.said)
		}
	}
	serve()
	last, out := live(-1)
	rest, _ := io.ReadAll(out)
	if err := last.cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, rest, &last.said)
	}
	node.kill(t)

	gaps := 0
	h.once(t, func(e *memory.Event) {
		if e.Kind == memory.KindGap && strings.Contains(e.Reason, ended) {
			gaps++
		}
	})
	for round := range given {
		if k.order != nil {
			given[round] = k.order(given[round])
		}
	}
	heard := k.heard(t, h, given)
	if sounds := k.family.SceneCodec != (carry.Codec{}); sounds && gaps != rounds || !sounds && gaps > 0 {
		t.Errorf("%d gaps tell of %d kills", gaps, rounds)
	}
	frames, missing := 0, 0
	for round, ids := range given {
		short := 0 // frames missing from the node, all at the end
		for i, id := range ids {
			frames++
			switch heard[id]--; {
			case heard[id] < 0:
				short++
			case short > 0:
				t.Fatalf("round %d: frame %d of %d is in the node, and not the one before", round, i, len(ids))
			}
		}
		if short > k.killed {
			t.Errorf("round %d: the last %d frames are missing, more than %d", round, short, k.killed)
		}
		missing += short
	}
	for id, n := range heard {
		if n > 0 { // a restarted device may send a frame again, which was then given again
			t.Errorf("frame %d is in the node %d times more than it was given", id, n)
		}
	}
	t.Logf("%d frames over %d kills of the bridge and %d of the node; %d of the last seconds before a kill are missing", frames, rounds, nodes, missing)
}
