package node

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// takeOf returns the samples of a recording, repeated times over.
func takeOf(t *testing.T, name string, times int) (pcm []byte) {
	t.Helper()
	b, err := os.ReadFile("../wasm/plugins/speech/testdata/audio/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for range times {
		pcm = append(pcm, b[44:]...)
	}
	return pcm
}

// wavOf makes a WAV file from samples at 16 kHz.
func wavOf(pcm []byte) []byte {
	h := []byte("RIFF____WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data____")
	binary.LittleEndian.PutUint32(h[4:], uint32(36+len(pcm)))
	binary.LittleEndian.PutUint32(h[40:], uint32(len(pcm)))
	return append(h, pcm...)
}

func soundComes(t *testing.T, n *Node, at time.Time, pcm []byte) {
	t.Helper()
	comesEvent(t, n, memory.Event{ID: memory.EventID{Device: "pin", Boot: 2, Seq: uint64(at.UnixNano())}, Kind: memory.KindAudio, At: at, Received: at, Clock: memory.ClockWall,
		Codec: "wav", Data: wavOf(pcm), Last: true})
}

// mixed has two voices speak at once, equally loud.
func mixed(a, b []byte) []byte {
	loud := func(pcm []byte) float64 {
		sum := 0.0
		for i := 0; i+1 < len(pcm); i += 2 {
			v := float64(int16(binary.LittleEndian.Uint16(pcm[i:])))
			sum += v * v
		}
		return math.Sqrt(sum / float64(len(pcm)))
	}
	gain := loud(a) / loud(b)
	out := make([]byte, len(a))
	for i := 0; i+1 < len(a); i += 2 {
		v := float64(int16(binary.LittleEndian.Uint16(a[i:]))) + gain*float64(int16(binary.LittleEndian.Uint16(b[i%len(b):])))
		binary.LittleEndian.PutUint16(out[i:], uint16(int16(max(-32768, min(v, 32767)))))
	}
	return out
}

// recordings returns the speakers of the recordings that are kept, in order.
func recordings(t *testing.T, n *Node) (who []string) {
	t.Helper()
	var all []*memory.Memory
	err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
			if err != nil {
				return err
			}
			all = append(all, m)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b *memory.Memory) int { return a.TrueFrom.Compare(b.TrueFrom) })
	for _, m := range all {
		who = append(who, m.Evidence[0].Speaker)
	}
	return who
}
