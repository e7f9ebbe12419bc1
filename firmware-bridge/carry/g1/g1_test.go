package g1_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/g1"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/internal/testing/lc3test"
	"github.com/locket-dev/locket/memory"
)

// spoken returns speech as the glasses send it, and what liblc3 decodes it to.
func spoken(t *testing.T) (packets [][]byte, golden []byte) {
	t.Helper()
	frames, golden := lc3test.Speech(t, "../../lc3/testdata", "16k")
	for of := range slices.Chunk(frames[:300], 10) {
		packets = append(packets, bytes.Join(of, nil))
	}
	return packets, golden
}

// The node gets what liblc3 decodes, in one recording, and a press.
func TestSpeech(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	g := g1.NewGlasses(carry.Play{})
	packets, golden := spoken(t)
	g.Packets = packets
	b := n.Bridge(t, carrytest.StatePath(t), g1.Family, g)
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Frames != 300 || rep.Presses != 2 || rep.Spoilt+rep.Lost+rep.Waiting != 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	var pcm []byte
	lasts := 0
	for _, e := range n.Disk.OfKind(memory.KindAudio) {
		if pcm = append(pcm, e.Data...); e.Codec != "pcm16" || e.Rate != 16000 {
			t.Errorf("%s at %d", e.Codec, e.Rate)
		}
		if e.Last {
			lasts++
		}
	}
	if want := 2 * (300*160 - 40); len(pcm) != want || lasts != 1 {
		t.Fatalf("%d bytes of %d, %d recordings", len(pcm), want, lasts)
	}
	var d, w float64
	for i := 0; i < len(pcm); i += 2 {
		x, y := float64(int16(binary.LittleEndian.Uint16(pcm[i:]))), float64(int16(binary.LittleEndian.Uint16(golden[i:])))
		d, w = d+(x-y)*(x-y), w+y*y
	}
	if far := math.Sqrt(d / w); far > .01 {
		t.Errorf("%.4f from what liblc3 decodes", far)
	}
}

// A lost packet is reported, and another piece begins after it.
func TestLostPacket(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	packets, _ := spoken(t)
	var b strings.Builder
	line := func(ms int, arm string, data []byte) {
		b.WriteString(`{"t":` + strconv.FormatInt(1773489600000+int64(ms), 10) + `,"char":"` + arm + `6e400003-b5a3-f393-e0a9-e50e24dcca9e","hex":"` + hex.EncodeToString(data) + `"}` + "\n")
	}
	b.WriteString(`{"t":1773489600000,"op":"connect","device":"G1_45","mtu":251}` + "\n")
	for i, p := range packets[:20] {
		if i == 7 || i == 8 {
			continue
		}
		line(100*i, "right/", append([]byte{0xf1, byte(i)}, p...))
	}
	line(2000, "right/", []byte{0xf1, 19, 1}) // a packet that is cut short
	line(2000, "left/", []byte{0xf5, 0x17})
	_, rep := carrytest.Play(t, n, g1.Family, []byte(b.String()))
	if rep.Frames != 180 || rep.Lost != 2 || rep.Spoilt != 1 || rep.Presses != 1 {
		t.Errorf("%+v", rep)
	}
	told := ""
	for _, e := range n.Disk.OfKind(memory.KindGap) {
		told += e.Reason + "\n"
	}
	for _, want := range []string{"2 audio notifications lost: 7-8", "another length"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in %s", want, told)
		}
	}
}

// An answer is shown on the left arm and then on the right one; both get heartbeats.
func TestAnswer(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	g := g1.NewGlasses(carry.Play{Amount: 2})
	type shown struct{ arm, text string }
	seen := make(chan shown, 2)
	beats := make(chan string, 64)
	g.Asks, g.OnShown = true, func(arm, text string) { seen <- shown{arm, text} }
	g.Beats = func(arm string, _ byte) { beats <- arm }
	b := n.Bridge(t, carrytest.StatePath(t), g1.Family, g)
	stop := b.Start(t)
	n.Disk.Until(t, "a press", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindButton)) == 2 })
	if err := n.In.Say("pin", "Your dentist appointment is on Tuesday at four."); err != nil {
		t.Fatal(err)
	}
	const want = "Your dentist appointment is on Tuesday\nat four."
	if l, r := <-seen, <-seen; l != (shown{link.Left, want}) || r != (shown{link.Right, want}) {
		t.Errorf("%+v, %+v", l, r)
	}
	if l, r := <-beats, <-beats; l != link.Left || r != link.Right {
		t.Errorf("%s, %s", l, r)
	}
	stop()
}

// If the glasses do not answer heartbeats, the bridge reconnects.
func TestUnansweredHeartbeats(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	g := g1.NewGlasses(carry.Play{Amount: 1})
	g.Asks, g.Deaf = true, true
	b := n.Bridge(t, carrytest.StatePath(t), g1.Family, g)
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Connections != 1 || !strings.Contains(strings.Join(b.Notes("disconnected"), ""), "heartbeat") {
		t.Errorf("%+v, %v, %q", rep, err, b.Notes("disconnected"))
	}
}
