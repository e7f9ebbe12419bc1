package omi_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/omi"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

const address = "D0:12:34:56:78:9A"

func device() linktest.Scenario {
	return linktest.Scenario{
		Address: address, Name: "Omi", MTU: 247,
		Reads: map[string]string{
			frame.CodecChar: "15", frame.ModelChar: hex.EncodeToString([]byte("Omi CV1")), frame.FirmwareChar: hex.EncodeToString([]byte("3.0.20")),
			frame.FeaturesChar: "6c010000", frame.MicGainChar: "05", frame.BatteryChar: "57",
		},
		Writes: []string{frame.TimeChar, frame.PhotoControl, frame.HapticChar},
	}
}

func hexes(in [][]byte) (out []string) {
	for _, b := range in {
		out = append(out, hex.EncodeToString(b))
	}
	return out
}

// photo makes the notifications of a JPEG that is turned by 270°.
func photo(jpeg []byte) (out [][]byte) {
	cut := min(199, len(jpeg))
	out = append(out, append([]byte{0, 0, 3}, jpeg[:cut]...))
	n := uint16(1)
	for part := range slices.Chunk(jpeg[cut:], 200) {
		out = append(out, append(binary.LittleEndian.AppendUint16(nil, n), part...))
		n++
	}
	return append(out, []byte{0xff, 0xff})
}

// A day with a pendant: it sends, goes away, comes back, and is sent again what it forgets; the
// wearer pauses and resumes.
func TestDevice(t *testing.T) {
	jpeg := append([]byte{0xff, 0xd8, 0xff}, bytes.Repeat([]byte("locket"), 500)...)
	whole, broken := photo(jpeg), photo(jpeg)
	broken = slices.Delete(broken, 4, 5)
	var frames [][]byte
	for i := range 5 {
		frames = append(frames, []byte{0xb8, byte(i)})
	}
	s := device()
	s.Notify = []map[string][]string{
		{
			frame.AudioChar:   append(hexes(notify(frames, 240, 7)), "0100"), // one that is too short
			frame.PhotoChar:   hexes(append(whole, broken...)),
			frame.ButtonChar:  {"0200000000000000", "0000000000000000", "63"},
			frame.BatteryChar: {"57", "56", "drop"},
		},
		{frame.ButtonChar: {"0100000000000000"}},
	}
	z := linktest.Start(t, s)
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), omi.Family, &link.BlueZ{Device: "Omi", Bus: z.Bus})
	b.Cfg.Options.PhotoEvery = 30
	asked := b.NoteWith("the node asked for one")
	stop := b.Start(t)

	n.Disk.Until(t, "the second connection", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindButton)) == 2 })
	n.In.SetPaused(true)
	n.Disk.Until(t, "pause", func() bool { return stateOf(n.Disk.Events) == "muted" })
	n.In.SetPaused(false)
	n.Disk.Until(t, "resume", func() bool { return stateOf(n.Disk.Events) == "recording" })
	if err := n.In.Capture("pin", "photo", 0); err != nil {
		t.Fatal(err)
	}
	carrytest.Await(t, asked)
	n.In.SetPaused(true)
	n.Disk.Until(t, "pause again", func() bool { return stateOf(n.Disk.Events) == "muted" })
	rep := stop()

	if rep.Connections != 2 || rep.Photos != 1 || rep.LostPhotos != 1 || rep.Presses != 2 || rep.Frames != 5 || rep.Spoilt != 2 || rep.Refused != 0 {
		t.Errorf("%+v", rep)
	}
	photos := n.Disk.OfKind(memory.KindPhoto)
	if len(photos) != 1 || !bytes.Equal(photos[0].Data, jpeg) || photos[0].Metadata[wire.MetaOrientation] != "270" {
		t.Errorf("%d photos", len(photos))
	}
	if e := n.Disk.OfKind(memory.KindButton); e[0].Values[0] != 2 || e[1].Values[0] != 1 {
		t.Errorf("%+v", e)
	}
	if e := n.Disk.OfKind(memory.KindSensor); len(e) != 1 || e[0].Name != "battery" || e[0].Values[0] != 86 || e[0].Unit != "%" {
		t.Errorf("%+v", e)
	}
	if audio := n.Disk.OfKind(memory.KindAudio); len(audio) != 1 || !audio[0].Last {
		t.Errorf("%+v", audio)
	} else if got, err := wire.Packets(audio[0].Data); err != nil || len(got) != 5 {
		t.Errorf("%d packets, %v", len(got), err)
	}
	var reasons []string
	for _, e := range n.Disk.OfKind(memory.KindGap) {
		reasons = append(reasons, e.Reason)
	}
	for _, want := range []string{"photo dropped after 799 bytes: part 5 came after part 3", "less than 3 bytes", "button: 1 bytes"} {
		if !strings.Contains(strings.Join(reasons, "\n"), want) {
			t.Errorf("no gap says %q: %q", want, reasons)
		}
	}
	// Written on each connection: the time, the photo interval, and the microphone.
	if got := z.Wrote(t, frame.TimeChar); len(got) < 2 {
		t.Errorf("time %v", got)
	}
	if got := z.Wrote(t, frame.PhotoControl); !slices.Equal(got, []string{"1e", "1e", "ff"}) {
		t.Errorf("photo control %v", got)
	}
	if got := strings.Join(z.Wrote(t, frame.MicGainChar), " "); got != "05 05 00 05 00" {
		t.Errorf("microphone %v", got)
	}
	if got := z.Wrote(t, frame.HapticChar); !slices.Equal(got, []string{"02", "01", "02"}) { // the wearer feels pause, resume, pause
		t.Errorf("motor %v", got)
	}
}

func stateOf(events []memory.Event) string {
	list := carrytest.OfKind(events, memory.KindStatus)
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1].Metadata[wire.MetaState]
}

// records packs frames as the firmware does; the times are whole seconds.
func records(frames [][]byte, epoch float64) (out []string) {
	rec := make([]byte, 0, frame.RecordSize)
	began := epoch
	flush := func() {
		if len(rec) > 4 {
			binary.BigEndian.PutUint32(rec, uint32(began))
			out = append(out, hex.EncodeToString(append(rec, make([]byte, frame.RecordSize-len(rec))...)))
		}
		rec, began = make([]byte, 4, frame.RecordSize), epoch
	}
	flush()
	for _, f := range frames {
		if len(rec)+1+len(f) >= frame.RecordSize {
			flush()
		}
		rec = append(append(rec, byte(len(f))), f...)
		epoch += 0.02
	}
	flush()
	return out
}

// What the device stored is deleted there only once the node has it on disk, even after a lost
// notification, an end in between, and across batches.
func TestStorage(t *testing.T) {
	t.Run("firmware 3.0.20", func(t *testing.T) { storage(t, linktest.Ring{Fail: 1}, "bytes came, which is not 0 to 600") })
	t.Run("custody", func(t *testing.T) {
		storage(t, linktest.Ring{ID: 0x1122334455667788, Spoil: 1}, "another checksum than the device's")
	})
}

func storage(t *testing.T, kind linktest.Ring, fault string) {
	speech, _ := encode(t)
	var morning [][]byte
	for range 7 {
		morning = append(morning, speech...)
	}
	const at = 1773489600
	ring := records(morning, at)
	split := len(ring)
	ring = append(ring, records(speech, at+7200)...)
	s := device()
	kind.Records = ring
	s.Ring = &kind
	z := linktest.Start(t, s)
	n := carrytest.NewNode(t)

	advanced := func() (to uint64) {
		for _, w := range z.Wrote(t, frame.StorageChar) {
			if b, err := hex.DecodeString(w); err == nil && (b[0] == 0x12 || b[0] == 0x15) {
				to = binary.BigEndian.Uint64(b[len(b)-8:])
			}
		}
		return to
	}
	path := carrytest.StatePath(t)
	bluez := &link.BlueZ{Device: address, Bus: z.Bus}

	// The node's disk is blocked: the device must not be told to delete anything.
	open := n.Disk.Stop(t)
	b := n.Bridge(t, path, omi.Family, bluez)
	b.Cfg.Options.Storage = true
	waits := b.NoteWith("wait for the node")
	stop := b.Start(t)
	carrytest.Await(t, waits)
	if to := advanced(); to != 0 {
		t.Fatalf("the device was told to forget %d records that are nowhere else", to)
	}
	open()
	n.Disk.Until(t, "the first batch", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindAudio)) >= 10 })
	stop()
	if err := b.Cfg.Client.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(b.Notes("warning"), "\n"), fault) {
		t.Errorf("the fault of the transfer was not noticed: %v", b.Notes("warning"))
	}

	// The next start continues where that one ended, whether the device was told or not.
	b = n.Bridge(t, path, omi.Family, bluez)
	b.Cfg.Options.Storage = true
	empty := b.NoteWith("nothing is left in the device")
	stop = b.Start(t)
	carrytest.Await(t, empty)
	stop()
	if to := advanced(); to != uint64(len(ring)) {
		t.Errorf("the device forgot %d records of %d", to, len(ring))
	}

	audio := n.Disk.OfKind(memory.KindAudio)
	seen := map[memory.EventID]bool{}
	for _, e := range audio {
		if seen[e.ID] {
			t.Errorf("%v came twice", e.ID)
		}
		seen[e.ID] = true
	}
	got, _ := hear(t, audio)
	if len(got) != len(morning)+len(speech) {
		t.Fatalf("%d packets of %d", len(got), len(morning)+len(speech))
	}
	for i, p := range append(morning, speech...) {
		if !bytes.Equal(got[i], p) {
			t.Fatalf("packet %d is another", i)
		}
	}
	// The times are those of the records, without jumps, and recordings end where they ended.
	var lasts []uint64
	sound := 0
	for _, e := range audio {
		list, _ := wire.Packets(e.Data)
		want := int64(at)*1000 + int64(20*sound)
		if sound >= len(morning) {
			want = int64(at+7200)*1000 + int64(20*(sound-len(morning)))
		}
		if off := e.At.UnixMilli() - want; off < -1500 || off > 1500 {
			t.Errorf("record %d: %s, off by %d ms", e.ID.Seq, e.At, off)
		}
		if e.Last {
			lasts = append(lasts, e.ID.Seq)
		}
		sound += len(list)
	}
	if len(lasts) != 2 || lasts[0] < uint64(split)-10 || lasts[0] >= uint64(split) {
		t.Errorf("recordings end at %v; %d records before the pause", lasts, split)
	}
	t.Logf("%d records in %d messages", len(ring), len(audio))
}

// The report says what was read of a device, and what it can't do.
func TestDeviceReports(t *testing.T) {
	n := carrytest.NewNode(t)
	line := func(char, v string) string {
		return fmt.Sprintf(`{"t":1,"op":"read","char":"%s","hex":"%s"}`+"\n", char, v)
	}
	for _, c := range []struct{ name, capture, what, want string }{
		{"no codec", `{"t":1,"op":"connect","mtu":247}`, "warning", "does not say its codec"},
		{"a codec of the future", line(frame.CodecChar, "63"), "disconnected", "number 99 is not known"},
		{"a small MTU", `{"t":1,"op":"connect","mtu":23}` + "\n" + line(frame.CodecChar, "14"), "warning", "sends no live sound"},
	} {
		b := n.Bridge(t, carrytest.StatePath(t), omi.Family, link.NewCapture(strings.NewReader(c.capture)))
		b.Cfg.Lossless = true
		if _, err := carry.Run(carrytest.Deadline(t), b.Cfg); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if told := strings.Join(b.Notes(c.what), "\n"); !strings.Contains(told, c.want) {
			t.Errorf("%s: %s", c.name, told)
		}
		if err := b.Cfg.Client.Close(); err != nil {
			t.Error(err)
		}
	}
	b := n.Bridge(t, carrytest.StatePath(t), omi.Family, link.NewCapture(strings.NewReader("{")))
	if _, err := carry.Run(carrytest.Deadline(t), b.Cfg); err == nil || !strings.Contains(err.Error(), "capture: line 1") {
		t.Errorf("a broken capture: %v", err)
	}
}

// A node that is away for long holds nothing up. What finds no room is counted, and the node is
// told later.
func TestNodeAway(t *testing.T) {
	n := carrytest.NewNode(t)
	open := n.Disk.Stop(t)
	const presses = carry.Window
	var capture strings.Builder
	for range presses {
		fmt.Fprintf(&capture, `{"t":%d,"char":"%s","hex":"0100000000000000"}`+"\n", began, frame.ButtonChar)
	}
	b := n.Bridge(t, carrytest.StatePath(t), omi.Family, link.NewCapture(strings.NewReader(capture.String())))
	told := 0
	b.Cfg.OnNote = func(note carry.Note) {
		if note.What == "button" {
			told++
		}
		if note.What == "disconnected" {
			open()
		}
	}
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil {
		t.Fatal(err)
	}
	got := len(n.Disk.OfKind(memory.KindButton))
	if told != presses || got < presses/2 || rep.Dropped == 0 || got+rep.Dropped != presses+1 { // one more for the last status
		t.Errorf("%d told, %d at the node, %+v", told, got, rep)
	}
	gaps := n.Disk.OfKind(memory.KindGap)
	if len(gaps) != 1 || !strings.Contains(gaps[0].Reason, fmt.Sprintf("%d messages dropped", rep.Dropped)) {
		t.Errorf("%+v", gaps)
	}
}
