package carry_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/frigate"
	"github.com/locket-dev/locket/firmware-bridge/carry/xiaozhi"
	camera "github.com/locket-dev/locket/firmware-bridge/frame/frigate"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/xiaozhi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
)

// byDatagrams is a Xiaozhi device whose sound comes as encrypted datagrams, which the bridge
// reorders. Losses between them are named.
var byDatagrams = func() live {
	k := marking(xiaozhi.Family, .3, 17, ofXiaozhi)
	k.killed += 5 // frames that wait for a late one
	byUDP := hearing(xiaozhi.Family, carry.Play{Reorder: true}, numbered(ofXiaozhi))
	k.device = func(round int) link.Dialer { return &keyed{Dialer: byUDP(round)} }
	k.ids = func(_ int, d link.Dialer) func([]byte) []uint64 { return d.(*keyed).marks }
	k.order = func(given []uint64) []uint64 {
		slices.Sort(given)
		return given
	}
	marked := k.heard
	k.heard = func(t *testing.T, h *house, given [][]uint64) map[uint64]int {
		namedLosses(t, h, given)
		return marked(t, h, given)
	}
	return k
}()

// keyed is a device by UDP, with the key that it was given last.
type keyed struct {
	link.Dialer
	key atomic.Pointer[datagramKey]
}

type datagramKey struct {
	block   cipher.Block
	session [4]byte
}

type keyedDevice struct {
	link.Device
	of *keyed
}

func (k *keyed) Connect(ctx context.Context) (link.Device, error) {
	d, err := k.Dialer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return keyedDevice{d, k}, nil
}

func (d keyedDevice) Write(ctx context.Context, char string, b []byte) error {
	if m, err := frame.Read(b); char == link.Text && err == nil && m.Type == "hello" {
		key, err1 := hex.DecodeString(m.UDP.Key)
		nonce, err2 := hex.DecodeString(m.UDP.Nonce)
		must(err1)
		must(err2)
		block, err := aes.NewCipher(key)
		must(err)
		d.of.key.Store(&datagramKey{block, [4]byte(nonce[4:8])})
	}
	return d.Device.Write(ctx, char, b)
}

// marks returns the frames in a datagram of the latest session.
func (k *keyed) marks(b []byte) []uint64 {
	key := k.key.Load()
	if key == nil || len(b) <= aes.BlockSize || [4]byte(b[4:8]) != key.session {
		return nil
	}
	plain := make([]byte, len(b)-aes.BlockSize)
	cipher.NewCTR(key.block, b[:aes.BlockSize]).XORKeyStream(plain, b[aes.BlockSize:])
	return marks(plain)
}

// namedLosses checks that gaps name how many frames were lost in each connection that ended before
// the kill. Those of the last connection may be missing.
func namedLosses(t *testing.T, h *house, given [][]uint64) {
	t.Helper()
	named := make([]int, len(given))
	first := h.firstBoot(t, len(given))
	h.once(t, func(e *memory.Event) {
		var n int
		if _, err := fmt.Sscanf(e.Reason, "%d audio notifications lost", &n); e.Kind == memory.KindGap && err == nil {
			named[e.ID.Boot-first] += n
		}
	})
	const part = liveRound / liveParts
	all := 0
	for round, ids := range given {
		lost := make([]int, liveParts) // lost frames of each connection, up to its latest frame
		last := 0
		for _, id := range ids {
			p := int(id) % liveRound / part
			last, lost[p] = max(last, p), int(id)%part+1
		}
		for _, id := range ids {
			lost[int(id)%liveRound/part]--
		}
		least, most := 0, 0
		for p, n := range lost {
			if most += n; p < last {
				least += n
			}
		}
		if named[round] < least || named[round] > most {
			t.Errorf("round %d: gaps name %d lost frames, want %d to %d", round, named[round], least, most)
		}
		all += named[round]
	}
	t.Logf("%d lost frames are named", all)
}

const (
	camerasSee = 400        // objects in a round
	firstSeen  = 1773489600 // when the first came, as Unix time
)

// byCameras is a Frigate, which publishes with QoS 0. Each object of which any message arrived is
// in the node, once. An object whose end did not arrive is reported after an hour.
var byCameras = live{
	family: frigate.Family, loss: .3, reorder: true, size: camerasSee, killed: 2,
	device: func(round int) link.Dialer {
		q := &link.Queue{AtMostOnce: true, HalfwayEnds: liveParts - 1}
		for i := range camerasSee {
			id := firstSeen + round*camerasSee + i
			for _, kind := range []string{"new", "end"} {
				q.Messages = append(q.Messages, link.Notification{Char: "frigate/events", Data: fmt.Appendf(nil,
					`{"type":%q,"after":{"id":"%d.0-abcdef","camera":"door","label":"person","start_time":%d.0,"end_time":%d.5}}`, kind, id, id, id+20)})
			}
		}
		return q
	},
	ids: func(int, link.Dialer) func([]byte) []uint64 {
		return func(b []byte) []uint64 {
			var m struct{ After struct{ ID string } }
			var at uint64
			if _, err := fmt.Sscanf(fmt.Sprint(json.Unmarshal(b, &m), m.After.ID), "<nil>%d", &at); err != nil {
				return nil
			}
			return []uint64{at - firstSeen}
		}
	},
	order: func(given []uint64) (out []uint64) {
		seen := map[uint64]bool{}
		for _, id := range given {
			if !seen[id] {
				seen[id], out = true, append(out, id)
			}
		}
		return out
	},
	last: func(state *carry.State) link.Dialer { return &anHourLater{state: state} },
	heard: func(t *testing.T, h *house, _ [][]uint64) map[uint64]int {
		heard := map[uint64]int{}
		h.once(t, func(e *memory.Event) {
			if e.Kind == memory.KindText {
				heard[uint64(e.At.Unix()-firstSeen)]++
			}
		})
		return heard
	},
}

// anHourLater is a broker that brings nothing until the objects without an end are reported. It
// first makes their last news older than an hour.
type anHourLater struct {
	state *carry.State
	open  int // objects without an end that are not reported yet
	begun bool
	ended func() // ends its connection
}

func (a *anHourLater) Connect(context.Context) (link.Device, error) {
	if a.begun {
		return nil, io.EOF
	}
	a.begun = true
	var part struct {
		Boot uint64                    `json:"boot"`
		Open map[string]map[string]any `json:"open"`
	}
	must(a.state.Part(frigate.Family.Name, &part))
	for _, o := range part.Open {
		o["news"] = time.Now().Add(-2 * time.Hour)
		if o["event"].(map[string]any)["State"] != float64(camera.End) { // otherwise its line is sent when the connection begins
			a.open++
		}
	}
	must(a.state.Keep(frigate.Family.Name, part))
	d := nothing{link.NewSimulated(0)}
	a.ended = sync.OnceFunc(d.End)
	if a.open == 0 {
		a.ended()
	}
	go func() {
		<-d.Stop
		a.ended()
	}()
	return d, nil
}

// told is called by the session's goroutine.
func (a *anHourLater) told(n carry.Note) {
	if n.What != "sighting" {
		return
	}
	if a.open--; a.open == 0 {
		a.ended()
	}
}

// nothing is a device that sends nothing.
type nothing struct{ *link.Simulated }

func (nothing) MTU() int { return 0 }
func (nothing) Read(_ context.Context, char string) ([]byte, error) {
	return nil, fmt.Errorf("%w: %s", link.ErrAbsent, char)
}
func (nothing) Write(_ context.Context, char string, _ []byte) error {
	return fmt.Errorf("%w: %s", link.ErrAbsent, char)
}
