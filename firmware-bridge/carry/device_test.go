package carry_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/frame/omi"
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
			omi.CodecChar: "15", omi.ModelChar: hex.EncodeToString([]byte("Omi CV1")), omi.FirmwareChar: hex.EncodeToString([]byte("3.0.20")),
			omi.FeaturesChar: "4c010000", omi.MicGainChar: "05", omi.BatteryChar: "57",
		},
		Writes: []string{omi.TimeChar, omi.PhotoControl},
	}
}

func hexes(in [][]byte) (out []string) {
	for _, b := range in {
		out = append(out, hex.EncodeToString(b))
	}
	return out
}

// photo makes the notifications of a JPEG, turned by 270°.
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

// start runs the bridge until stop is called, which gives what it did.
func start(t *testing.T, b *bridge) (stop func() carry.Report) {
	ctx, cancel := context.WithCancel(deadline(t))
	done := make(chan struct{})
	var rep carry.Report
	var err error
	go func() {
		defer close(done)
		rep, err = carry.Run(ctx, b.cfg)
	}()
	stop = func() carry.Report {
		cancel()
		<-done
		if err != nil {
			t.Error(err)
		}
		return rep
	}
	t.Cleanup(func() { cancel(); <-done })
	return stop
}

// A day with a pendant: it sends, goes away, comes back, and is told again what
// it forgets; the wearer pauses and goes on.
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
			omi.AudioChar:   append(hexes(notify(frames, 240, 7)), "0100"), // and one that is too short
			omi.PhotoChar:   hexes(append(whole, broken...)),
			omi.ButtonChar:  {"0200000000000000", "0000000000000000", "63"},
			omi.BatteryChar: {"57", "56", "drop"},
		},
		{omi.ButtonChar: {"0100000000000000"}},
	}
	z := linktest.Start(t, s)
	n := newNode(t)
	b := n.bridge(t, statePath(t), &link.BlueZ{Device: "Omi", Bus: z.Bus})
	b.cfg.PhotoEvery = 30
	asked := b.when("the node asked for one")
	stop := start(t, b)

	n.disk.until(t, "the second connection", func() bool { return len(of(n.disk.events, memory.KindButton)) == 2 })
	n.in.SetPaused(true)
	n.disk.until(t, "pause", func() bool { return stateOf(n.disk.events) == "muted" })
	n.in.SetPaused(false)
	n.disk.until(t, "resume", func() bool { return stateOf(n.disk.events) == "recording" })
	if err := n.in.Capture("pin", "photo", 0); err != nil {
		t.Fatal(err)
	}
	await(t, asked)
	n.in.SetPaused(true)
	n.disk.until(t, "pause again", func() bool { return stateOf(n.disk.events) == "muted" })
	rep := stop()

	if rep.Connections != 2 || rep.Photos != 1 || rep.LostPhotos != 1 || rep.Presses != 2 || rep.Frames != 5 || rep.Spoilt != 2 || rep.Refused != 0 {
		t.Errorf("%+v", rep)
	}
	photos := n.disk.of(memory.KindPhoto)
	if len(photos) != 1 || !bytes.Equal(photos[0].Data, jpeg) || photos[0].Metadata[wire.MetaOrientation] != "270" {
		t.Errorf("%d photos", len(photos))
	}
	if e := n.disk.of(memory.KindButton); e[0].Values[0] != 2 || e[1].Values[0] != 1 {
		t.Errorf("%+v", e)
	}
	if e := n.disk.of(memory.KindSensor); len(e) != 1 || e[0].Name != "battery" || e[0].Values[0] != 86 || e[0].Unit != "%" {
		t.Errorf("%+v", e)
	}
	if audio := n.disk.of(memory.KindAudio); len(audio) != 1 || !audio[0].Last {
		t.Errorf("%+v", audio)
	} else if got, err := wire.Packets(audio[0].Data); err != nil || len(got) != 5 {
		t.Errorf("%d packets, %v", len(got), err)
	}
	var reasons []string
	for _, e := range n.disk.of(memory.KindGap) {
		reasons = append(reasons, e.Reason)
	}
	for _, want := range []string{"photo dropped after 799 bytes: part 5 came after part 3", "less than 3 bytes", "button: 1 bytes"} {
		if !strings.Contains(strings.Join(reasons, "\n"), want) {
			t.Errorf("no gap says %q: %q", want, reasons)
		}
	}
	// On each connection: the time, the photos' interval, and the microphone.
	if got := z.Wrote(t, omi.TimeChar); len(got) < 2 {
		t.Errorf("time %v", got)
	}
	if got := z.Wrote(t, omi.PhotoControl); !slices.Equal(got, []string{"1e", "1e", "ff"}) {
		t.Errorf("photo control %v", got)
	}
	if got := strings.Join(z.Wrote(t, omi.MicGainChar), " "); got != "05 05 00 05 00" {
		t.Errorf("microphone %v", got)
	}
}

func stateOf(events []memory.Event) string {
	list := of(events, memory.KindStatus)
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1].Metadata[wire.MetaState]
}

// records packs frames as the firmware does; the epochs are whole seconds.
func records(frames [][]byte, epoch float64) (out []string) {
	rec := make([]byte, 0, omi.RecordSize)
	began := epoch
	flush := func() {
		if len(rec) > 4 {
			binary.BigEndian.PutUint32(rec, uint32(began))
			out = append(out, hex.EncodeToString(append(rec, make([]byte, omi.RecordSize-len(rec))...)))
		}
		rec, began = make([]byte, 4, omi.RecordSize), epoch
	}
	flush()
	for _, f := range frames {
		if len(rec)+1+len(f) >= omi.RecordSize {
			flush()
		}
		rec = append(append(rec, byte(len(f))), f...)
		epoch += 0.02
	}
	flush()
	return out
}

// What the device stored leaves it only after the node has it on disk: through
// a lost notification, an end in between, and over batches.
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
	n := newNode(t)

	advanced := func() (to uint64) {
		for _, w := range z.Wrote(t, omi.StorageChar) {
			if b, err := hex.DecodeString(w); err == nil && (b[0] == 0x12 || b[0] == 0x15) {
				to = binary.BigEndian.Uint64(b[len(b)-8:])
			}
		}
		return to
	}
	path := statePath(t)
	bluez := &link.BlueZ{Device: address, Bus: z.Bus}

	// The node's disk stands still: the device must not be told anything.
	gate := make(chan struct{})
	n.disk.gate = gate
	b := n.bridge(t, path, bluez)
	b.cfg.Storage = true
	waits := b.when("wait for the node")
	stop := start(t, b)
	open := sync.OnceFunc(func() {
		n.disk.mu.Lock()
		n.disk.gate = nil
		n.disk.mu.Unlock()
		close(gate)
	})
	t.Cleanup(open) // or nothing ends where this fails
	await(t, waits)
	if to := advanced(); to != 0 {
		t.Fatalf("the device was told to forget %d records that are nowhere else", to)
	}
	open()
	n.disk.until(t, "the first batch", func() bool { return len(of(n.disk.events, memory.KindAudio)) >= 10 })
	stop()
	if err := b.cfg.Client.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(b.told("warning"), "\n"), fault) {
		t.Errorf("the fault of the transfer was not noticed: %v", b.told("warning"))
	}

	// Another start goes on where that ended, whether it was told or not.
	b = n.bridge(t, path, bluez)
	b.cfg.Storage = true
	empty := b.when("nothing is left in the device")
	stop = start(t, b)
	await(t, empty)
	stop()
	if to := advanced(); to != uint64(len(ring)) {
		t.Errorf("the device forgot %d records of %d", to, len(ring))
	}

	audio := n.disk.of(memory.KindAudio)
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
	// Times are the records', smooth, and the recordings end where they ended.
	var lasts []uint64
	sound := 0
	for _, e := range audio {
		list, _ := wire.Packets(e.Data)
		want := int64(at*1000 + 20*sound)
		if sound >= len(morning) {
			want = int64((at+7200)*1000 + 20*(sound-len(morning)))
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

// What was read of a device, and what it can't do, is told.
func TestOddDevices(t *testing.T) {
	n := newNode(t)
	line := func(char, v string) string {
		return fmt.Sprintf(`{"t":1,"op":"read","char":"%s","hex":"%s"}`+"\n", char, v)
	}
	for _, c := range []struct{ name, capture, what, want string }{
		{"no codec", `{"t":1,"op":"connect","mtu":247}`, "warning", "does not say its codec"},
		{"a codec of the future", line(omi.CodecChar, "63"), "disconnected", "number 99 is not known"},
		{"a small MTU", `{"t":1,"op":"connect","mtu":23}` + "\n" + line(omi.CodecChar, "14"), "warning", "sends no live sound"},
	} {
		b := n.bridge(t, statePath(t), link.NewCapture(strings.NewReader(c.capture)))
		b.cfg.Lossless = true
		if _, err := carry.Run(deadline(t), b.cfg); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if told := strings.Join(b.told(c.what), "\n"); !strings.Contains(told, c.want) {
			t.Errorf("%s: %s", c.name, told)
		}
		if err := b.cfg.Client.Close(); err != nil {
			t.Error(err)
		}
	}
	b := n.bridge(t, statePath(t), link.NewCapture(strings.NewReader("{")))
	if _, err := carry.Run(deadline(t), b.cfg); err == nil || !strings.Contains(err.Error(), "capture: line 1") {
		t.Errorf("a broken capture: %v", err)
	}
}

// A node that is away for long holds nothing up; what finds no room is counted,
// and the node is told.
func TestNodeAway(t *testing.T) {
	n := newNode(t)
	gate := make(chan struct{})
	n.disk.gate = gate
	const presses = carry.Window
	var capture strings.Builder
	for range presses {
		fmt.Fprintf(&capture, `{"t":%d,"char":"%s","hex":"0100000000000000"}`+"\n", began, omi.ButtonChar)
	}
	b := n.bridge(t, statePath(t), link.NewCapture(strings.NewReader(capture.String())))
	told := 0
	b.cfg.Tell = func(note carry.Note) {
		if note.What == "button" {
			told++
		}
		if note.What == "disconnected" {
			n.disk.mu.Lock()
			n.disk.gate = nil
			n.disk.mu.Unlock()
			close(gate)
		}
	}
	rep, err := carry.Run(deadline(t), b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	got := len(n.disk.of(memory.KindButton))
	if told != presses || got < presses/2 || rep.Dropped == 0 || got+rep.Dropped != presses+1 { // and the last status
		t.Errorf("%d told, %d at the node, %+v", told, got, rep)
	}
	gaps := n.disk.of(memory.KindGap)
	if len(gaps) != 1 || !strings.Contains(gaps[0].Reason, fmt.Sprintf("%d messages dropped", rep.Dropped)) {
		t.Errorf("%+v", gaps)
	}
}
