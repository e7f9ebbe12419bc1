package omi_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/omi"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/internal/media"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/intake/wire"
)

const speech = "../../../wasm/plugins/speech/testdata/audio/jfk.wav"

// tool runs one of Debian's opus-tools.
func tool(t testing.TB, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is missing: install opus-tools (%v)", name, err)
	}
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// encode makes Opus packets of 20 ms from the speech, with the settings of Omi's encoder (32 kbit/s
// VBR), and returns them with what opusdec decodes at 16 kHz.
func encode(t testing.TB) (packets [][]byte, decoded []int16) {
	t.Helper()
	dir := t.TempDir()
	ogg, wav := filepath.Join(dir, "jfk.ogg"), filepath.Join(dir, "out.wav")
	tool(t, "opusenc", "--quiet", "--bitrate", "32", "--vbr", "--framesize", "20", speech, ogg)
	tool(t, "opusdec", "--quiet", "--rate", "16000", ogg, wav)
	b, err := os.ReadFile(ogg)
	if err != nil {
		t.Fatal(err)
	}
	list, channels, err := media.ReadOpus(b)
	if err != nil || channels != 1 {
		t.Fatalf("%d channels, %v", channels, err)
	}
	for _, p := range list {
		packets = append(packets, p.Data)
	}
	if b, err = os.ReadFile(wav); err != nil {
		t.Fatal(err)
	}
	if decoded, err = sound.WAV(b); err != nil {
		t.Fatal(err)
	}
	return packets, decoded
}

// notify cuts frames into notifications of at most room bytes, with ids counting up from first.
func notify(frames [][]byte, room int, first uint16) (out [][]byte) {
	id := first
	for _, f := range frames {
		for index := 0; len(f) > 0; index++ {
			n := min(room-3, len(f))
			b := binary.LittleEndian.AppendUint16(nil, id)
			out = append(out, append(append(b, byte(index)), f[:n]...))
			f = f[n:]
			id++
		}
	}
	return out
}

const began int64 = 1773489600250 // ms

// capture writes notifications 20 ms apart.
func capture(notes [][]byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"t":%d,"op":"connect","device":"D0:12:34:56:78:9A","mtu":103}`+"\n", began)
	for char, v := range map[string]string{frame.CodecChar: "15", frame.ModelChar: hex.EncodeToString([]byte("Omi CV1")), frame.FirmwareChar: hex.EncodeToString([]byte("3.0.20"))} {
		fmt.Fprintf(&b, `{"t":%d,"op":"read","char":"%s","hex":"%s"}`+"\n", began, char, v)
	}
	for i, n := range notes {
		fmt.Fprintf(&b, `{"t":%d,"char":"%s","hex":"%x"}`+"\n", began+10*int64(i), frame.AudioChar, n)
	}
	fmt.Fprintf(&b, `{"t":%d,"op":"disconnect"}`+"\n", began+10*int64(len(notes)))
	return b.Bytes()
}

// hear decodes a node's audio events.
func hear(t testing.TB, events []memory.Event) (packets [][]byte, pcm []int16) {
	t.Helper()
	var d sound.Decoder
	for _, e := range events {
		list, err := wire.Packets(e.Data)
		if err != nil || e.Codec != "opus" || e.Rate != 16000 {
			t.Fatalf("%s at %d: %v", e.Codec, e.Rate, err)
		}
		for _, p := range list {
			samples, err := d.Decode(e.Codec, e.Rate, p)
			if err != nil {
				t.Fatal(err)
			}
			packets, pcm = append(packets, p), append(pcm, samples...)
		}
	}
	return packets, pcm
}

// likeness aligns b to a by the shift, of up to reach samples, at which they correlate most. It
// returns that correlation and the ratio of signal to difference in dB, with the best gain.
func likeness(a, b []int16, reach int) (shift int, corr, snr float64) {
	at := func(shift int) (aa, bb, ab float64) {
		for i := range a {
			if j := i + shift; j >= 0 && j < len(b) {
				x, y := float64(a[i]), float64(b[j])
				aa, bb, ab = aa+x*x, bb+y*y, ab+x*y
			}
		}
		return
	}
	corr = -1
	for s := -reach; s <= reach; s++ {
		aa, bb, ab := at(s)
		if c := ab / math.Sqrt(aa*bb); c > corr {
			corr, shift = c, s
		}
	}
	return shift, corr, -10 * math.Log10(1-corr*corr)
}

// Without loss, each packet arrives, and sounds as opusdec decodes it.
func TestSpeech(t *testing.T) {
	packets, decoded := encode(t)
	// Fragments, with ids that wrap around.
	notes := notify(packets, 60, 65000)
	if len(notes) < len(packets)*3/2 {
		t.Fatalf("%d notifications of %d packets: hardly any has fragments", len(notes), len(packets))
	}
	n := carrytest.NewNode(t)
	_, rep := carrytest.Play(t, n, omi.Family, capture(notes))
	events := n.Disk.OfKind(memory.KindAudio)
	got, pcm := hear(t, events)
	if len(got) != len(packets) || rep.Frames != len(packets) {
		t.Fatalf("%d packets of %d arrived; %+v", len(got), len(packets), rep)
	}
	for i := range got {
		if !bytes.Equal(got[i], packets[i]) {
			t.Fatalf("packet %d is another", i)
		}
	}
	shift, corr, snr := likeness(decoded, pcm, 400)
	t.Logf("%d packets, %d notifications, %d messages; shift %d samples, correlation %.5f, SNR %.1f dB", len(packets), len(notes), len(events), shift, corr, snr)
	if snr < 25 {
		t.Errorf("correlation %.5f, SNR %.1f dB at shift %d: does not sound the same", corr, snr, shift)
	}
	for i, e := range events {
		if e.Last != (i == len(events)-1) {
			t.Errorf("message %d of %d: last %v", i, len(events), e.Last)
		}
	}
	if at := events[0].At.UnixMilli(); at < began || at > began+30 {
		t.Errorf("begins at %d, %d ms after", at, at-began)
	}
	if gaps := n.Disk.OfKind(memory.KindGap); len(gaps) != 0 {
		t.Errorf("%+v", gaps)
	}
	var states []string
	for _, e := range n.Disk.OfKind(memory.KindStatus) {
		states = append(states, e.Metadata[wire.MetaState])
	}
	if s := strings.Join(states, " "); s != "online recording offline" {
		t.Error(s)
	}
	hellos := n.Disk.OfKind(memory.KindHello)
	if h := hellos[len(hellos)-1]; h.Metadata[wire.MetaModel] != "Omi CV1" || h.Metadata[wire.MetaCodecs] != "opus" {
		t.Errorf("%+v", h.Metadata)
	}
}

// With loss, duplicates and a wrong order, what arrives is intact, and the gaps name each missing
// notification.
func TestSpeechWithLoss(t *testing.T) {
	packets, decoded := encode(t)
	const first = 65200 // the loss includes the wrap-around
	notes := notify(packets, 60, first)
	lost := map[uint16]bool{}
	var sent [][]byte
	doubled, late := 0, 0
	for i := 0; i < len(notes); i++ {
		id := binary.LittleEndian.Uint16(notes[i])
		switch {
		case i >= 200 && i%97 == 40, i >= 330 && i < 340, i == len(notes)/2:
			lost[id] = true
		case i%89 == 17 && i+1 < len(notes) && (i+1)%97 != 40 && i+1 != 400 && i+1 != 600:
			sent = append(sent, notes[i], notes[i])
			doubled++
		case i == 400 || i == 600: // it comes after the next one: first a gap, then late
			sent = append(sent, notes[i+1], notes[i])
			lost[id] = true
			late++
			i++
		default:
			sent = append(sent, notes[i])
		}
	}
	n := carrytest.NewNode(t)
	b, rep := carrytest.Play(t, n, omi.Family, capture(sent))
	if rep.Lost != len(lost) || rep.Doubled != doubled || rep.Spoilt != late || rep.Resets != 0 {
		t.Errorf("%d lost, %d doubled, %d late; %+v", len(lost), doubled, late, rep)
	}
	named := map[uint16]bool{}
	for _, e := range n.Disk.OfKind(memory.KindGap) {
		if e.Missing == nil || e.Missing.From != e.ID.Seq || e.Missing.To != e.ID.Seq {
			t.Errorf("%+v is not a gap without numbers", e.Missing)
		}
		_, list, ok := strings.Cut(e.Reason, "audio notifications lost: ")
		if !ok {
			continue
		}
		list, _, _ = strings.Cut(list, ";")
		for run := range strings.FieldsSeq(list) {
			var from, to uint16
			if k, _ := fmt.Sscanf(run, "%d-%d", &from, &to); k == 1 {
				to = from
			} else if k == 0 {
				t.Fatalf("%q in %q", run, e.Reason)
			}
			for id := from; ; id++ {
				named[id] = true
				if id == to {
					break
				}
			}
		}
	}
	if len(named) != len(lost) {
		t.Errorf("%d are named, %d are lost", len(named), len(lost))
	}
	for id := range lost {
		if !named[id] {
			t.Errorf("%d is lost, and not named", id)
		}
	}
	if len(b.Notes("lost")) == 0 {
		t.Error("the loss was not reported")
	}
	// Only what was sent arrives, and in order.
	got, pcm := hear(t, n.Disk.OfKind(memory.KindAudio))
	at := 0
	for i, p := range got {
		for at < len(packets) && !bytes.Equal(packets[at], p) {
			at++
		}
		if at == len(packets) {
			t.Fatalf("packet %d of %d was never sent, or is out of order", i, len(got))
		}
		at++
	}
	if len(got) < len(packets)*9/10 || len(got) >= len(packets) {
		t.Errorf("%d packets of %d", len(got), len(packets))
	}
	// The sound before the first loss is unchanged.
	head := 2 * 16000
	if shift, corr, _ := likeness(decoded[:head], pcm[:head+400], 400); corr < 0.98 {
		t.Errorf("correlation %.3f at %d", corr, shift)
	}
}
