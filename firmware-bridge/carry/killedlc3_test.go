package carry_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

const lc3Samples = 2 * lc3.Rate / 100 // bytes of a frame's samples

// decoding is a family that sends LC3, whose sound reaches the node as samples. A frame's samples
// depend on the frames before it, so each recording in the node is compared, byte by byte, with
// what a decoder makes of the frames that the session was given. head is the number of bytes before
// the frames in a notification.
func decoding(f carry.Family, reorder bool, head int) live {
	size := f.SceneCodec.Bytes
	noise := func(round int) [][]byte { return lc3Noise(size, round) }
	return live{
		family: f, loss: .3, reorder: reorder, size: liveRound,
		device: hearing(f, carry.Play{}, noise),
		// A second that is no message yet, which the codec's delay makes a frame longer, and two
		// notifications of up to 12 frames: one that the session handles while the message is
		// written, and the next one.
		killed: 101 + 2*12,
		ids: func(round int, _ link.Dialer) func([]byte) []uint64 {
			ids := map[string]uint64{}
			for i, frame := range noise(round) {
				ids[string(frame)] = uint64(round*liveRound + i)
			}
			return func(b []byte) (out []uint64) {
				for part := range slices.Chunk(b[min(head, len(b)):], size) {
					if id, known := ids[string(part)]; known {
						out = append(out, id)
					}
				}
				return out
			}
		},
		heard: func(t *testing.T, h *house, given [][]uint64) map[uint64]int { return decodedLive(t, h, noise, given) },
	}
}

var lc3Encoded sync.Map // [2]int of size and round to [][]byte

// lc3Noise returns a round's frames, each of the given size and all different.
func lc3Noise(size, round int) [][]byte {
	key := [2]int{size, round}
	if list, there := lc3Encoded.Load(key); there {
		return list.([][]byte)
	}
	dice := rand.New(rand.NewPCG(uint64(round), uint64(size)))
	var pcm []byte
	for range liveRound * lc3Samples / 2 {
		pcm = binary.LittleEndian.AppendUint16(pcm, uint16(dice.IntN(20_000)-10_000))
	}
	list, err := lc3.Encode(context.Background(), pcm, size)
	must(err)
	list = list[:liveRound]
	once := map[string]bool{}
	for _, f := range list {
		if once[string(f)] {
			panic("two frames of noise are the same")
		}
		once[string(f)] = true
	}
	lc3Encoded.Store(key, list)
	return list
}

// lc3Recording is a recording in the node.
type lc3Recording struct {
	pcm  []byte
	last bool // its end is there
}

// frames returns the number of its frames.
func (r *lc3Recording) frames() int { return (len(r.pcm) + 2*lc3.Delay) / lc3Samples }

// decodedLive counts how often the node has each frame. It fails unless a round's recordings are
// exactly the frames that were given in that round, in order.
func decodedLive(t *testing.T, h *house, noise func(round int) [][]byte, given [][]uint64) map[uint64]int {
	t.Helper()
	rounds := lc3Recordings(t, h, h.firstBoot(t, len(given)), len(given))
	heard := map[uint64]int{}
	for round, ids := range given {
		frames, at := noise(round), 0
		for i, r := range rounds[round] {
			n := r.frames()
			if !r.last && i < len(rounds[round])-1 {
				t.Fatalf("round %d: recording %d of %d has no end", round, i, len(rounds[round]))
			}
			if at+n > len(ids) {
				t.Fatalf("round %d: %d frames are in the node, of %d that were given", round, at+n, len(ids))
			}
			var list [][]byte
			for _, id := range ids[at : at+n] {
				list = append(list, frames[id%liveRound])
			}
			if want := lc3Decoded(t, list); !bytes.Equal(want, r.pcm) {
				t.Fatalf("round %d: recording %d, of frames %d to %d of %d, is not what they decode to", round, i, at, at+n, len(ids))
			}
			for _, id := range ids[at : at+n] {
				heard[id]++
			}
			at += n
		}
	}
	return heard
}

// lc3Recordings returns each round's recordings, in order; first is the boot of the first round.
func lc3Recordings(t *testing.T, h *house, first uint64, rounds int) [][]*lc3Recording {
	t.Helper()
	events := make([][]memory.Event, rounds)
	h.once(t, func(e *memory.Event) {
		if e.Kind != memory.KindAudio {
			return
		}
		if e.ID.Boot < first || e.ID.Boot >= first+uint64(rounds) {
			t.Fatalf("sound of boot %d, want %d and %d more", e.ID.Boot, first, rounds)
		}
		events[e.ID.Boot-first] = append(events[e.ID.Boot-first], *e)
	})
	out := make([][]*lc3Recording, rounds)
	for round, list := range events {
		slices.SortFunc(list, func(a, b memory.Event) int { return int(a.ID.Seq) - int(b.ID.Seq) })
		for _, e := range list {
			if _, goesOn := e.Metadata[wire.MetaIndex]; !goesOn {
				out[round] = append(out[round], &lc3Recording{})
			}
			if len(out[round]) == 0 {
				t.Fatalf("round %d: the first recording has no beginning", round)
			}
			r := out[round][len(out[round])-1]
			r.pcm, r.last = append(r.pcm, e.Data...), e.Last
		}
	}
	return out
}

// lc3Decoded returns the samples of one recording's frames.
func lc3Decoded(t *testing.T, frames [][]byte) (pcm []byte) {
	t.Helper()
	var d lc3.Decoder
	for _, f := range frames {
		b, err := d.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		pcm = append(pcm, b...)
	}
	return pcm
}
