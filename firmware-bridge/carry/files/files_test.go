package files_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/files"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

const day = "../../../testdata/day/"

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// tagged puts Exif into a JPEG: taken on 14 March 2026 at 12:00 at +02:00, turned by a
// quarter, at 52.5 N 13.25 W (CIPA DC-008).
func tagged(jpeg []byte) []byte {
	le := binary.LittleEndian
	type entry struct {
		tag, kind uint16
		count     uint32
		value     []byte
	}
	var tiff []byte
	// directory appends one at the end of tiff, with what does not fit behind it.
	directory := func(entries ...entry) uint32 {
		at := uint32(len(tiff))
		b := le.AppendUint16(nil, uint16(len(entries)))
		far := at + 2 + 12*uint32(len(entries)) + 4
		var behind []byte
		for _, e := range entries {
			b = le.AppendUint32(le.AppendUint16(le.AppendUint16(b, e.tag), e.kind), e.count)
			if len(e.value) > 4 {
				b = le.AppendUint32(b, far+uint32(len(behind)))
				behind = append(behind, e.value...)
			} else {
				b = append(b, append(e.value, make([]byte, 4-len(e.value))...)...)
			}
		}
		tiff = append(append(tiff, le.AppendUint32(b, 0)...), behind...)
		return at
	}
	text := func(tag uint16, s string) entry { return entry{tag, 2, uint32(len(s) + 1), append([]byte(s), 0)} }
	degrees := func(tag uint16, d, m uint32) entry {
		var b []byte
		for _, n := range []uint32{d, 1, m, 1, 0, 1} {
			b = le.AppendUint32(b, n)
		}
		return entry{tag, 5, 3, b}
	}
	tiff = append([]byte("II*\x00"), 0, 0, 0, 0)
	more := directory(text(0x9003, "2026:03:14 12:00:00"), text(0x9011, "+02:00"))
	gps := directory(text(1, "N"), degrees(2, 52, 30), text(3, "W"), degrees(4, 13, 15))
	first := directory(entry{0x0112, 3, 1, []byte{6, 0}}, entry{0x8769, 4, 1, le.AppendUint32(nil, more)}, entry{0x8825, 4, 1, le.AppendUint32(nil, gps)})
	le.PutUint32(tiff[4:], first)
	body := append([]byte("Exif\x00\x00"), tiff...)
	segment := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(body)+2)), body...)
	return append(append(append([]byte(nil), jpeg[:2]...), segment...), jpeg[2:]...)
}

// What comes into a folder is at the node, once, whole, and when it was.
func TestFolder(t *testing.T) {
	dir, n, state := t.TempDir(), carrytest.NewNode(t), carrytest.StatePath(t)
	jpeg := read(t, day+"astronaut.jpg")
	large := append(bytes.TrimSuffix(read(t, day+"cat.jpg"), []byte{0xff, 0xd9}), append(make([]byte, 1<<20), 0xff, 0xd9)...)
	ogg := filepath.Join(t.TempDir(), "memo.ogg")
	if out, err := exec.Command("opusenc", "--quiet", day+"jfk.wav", ogg).CombinedOutput(); err != nil {
		t.Fatalf("opusenc: install opus-tools (%v: %s)", err, out)
	}
	put(t, dir, "memo.wav", read(t, day+"jfk.wav"))
	put(t, dir, "synced/memo copy.wav", read(t, day+"jfk.wav"))
	put(t, dir, "memo.ogg", read(t, ogg))
	put(t, dir, "a.jpg", tagged(jpeg))
	put(t, dir, "b.jpg", large)
	put(t, dir, "half.jpg", jpeg[:len(jpeg)-1000])
	put(t, dir, "note.txt", []byte("\ufeffThe dentist is on Tuesday.\r\n"))
	put(t, dir, "film.mp4", []byte("\x00\x00\x00\x18ftypmp42"))
	put(t, dir, ".hidden.txt", []byte("hidden"))
	put(t, dir, ".git/config", []byte("hidden"))
	put(t, dir, "photo.jpg.crdownload", []byte("half of it"))
	put(t, dir, "empty.txt", nil)
	was := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "memo.ogg"), was, was); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	folder := &link.Folder{Dir: dir, Every: 10 * time.Millisecond, Calm: 30 * time.Millisecond}

	b := n.Bridge(t, state, files.Family, folder)
	later := b.When(`"later.txt" is with the node`)
	stop := b.Start(t)
	count := func(kind memory.Kind) int { return len(carrytest.Of(n.Disk.Events, kind)) }
	n.Disk.Until(t, "all files", func() bool {
		return count(memory.KindPhoto) == 3 && count(memory.KindAudio) == 3 && count(memory.KindText) == 1 && count(memory.KindLocation) == 1
	})
	// Half a photo becomes a whole one.
	put(t, dir, "half.jpg", jpeg)
	n.Disk.Until(t, "the other half", func() bool { return count(memory.KindPhoto) == 4 })
	// In a pause files wait in their folder.
	n.In.SetPaused(true)
	for !b.Cfg.Client.Paused() {
		time.Sleep(time.Millisecond) // the client has no event for it; go test bounds the wait
	}
	put(t, dir, "later.txt", []byte("It was sunny."))
	n.In.SetPaused(false)
	carrytest.Await(t, later)
	rep := stop()
	if rep.Spoilt != 2 || rep.Refused+rep.Waiting != 0 {
		t.Errorf("%+v", rep)
	}
	if err := b.Cfg.Client.Close(); err != nil {
		t.Fatal(err)
	}

	audio := n.Disk.Of(memory.KindAudio)
	var wav []byte
	opus, lasts := 0, 0
	for _, e := range audio {
		if e.Last {
			lasts++
		}
		if e.Codec == "pcm16" {
			wav = append(wav, e.Data...)
			continue
		}
		list, err := wire.Packets(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		opus += len(list)
		if off := was.Sub(e.At); off > 12*time.Second || off < 0 {
			t.Errorf("the memo is of %s", e.At)
		}
	}
	if want := read(t, day+"jfk.wav"); !bytes.HasSuffix(want, wav) || len(wav) < len(want)-100 || opus < 500 || lasts != 2 {
		t.Errorf("%d bytes of samples, %d packets, %d ends", len(wav), opus, lasts)
	}
	photos := n.Disk.Of(memory.KindPhoto)
	at := time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)
	if e := photos[0]; !e.At.Equal(at) || e.Metadata[wire.MetaOrientation] != "90" || !bytes.Equal(e.Data, tagged(jpeg)) {
		t.Errorf("%s, %v", e.At, e.Metadata)
	}
	if e := n.Disk.Of(memory.KindLocation)[0]; !e.At.Equal(at) || e.Place.Lat != 52.5 || e.Place.Lon != -13.25 {
		t.Errorf("%s, %+v", e.At, e.Place)
	}
	if !bytes.Equal(append(append([]byte(nil), photos[1].Data...), photos[2].Data...), large) || photos[2].ID.Seq != photos[1].ID.Seq+1 || photos[2].Metadata[wire.MetaParts] != "2" {
		t.Errorf("%+v", photos[2].ID)
	}
	if !bytes.Equal(photos[3].Data, jpeg) {
		t.Error("the half that became whole is another")
	}
	if e := n.Disk.Of(memory.KindText); e[0].Text != "The dentist is on Tuesday." || e[1].Text != "It was sunny." {
		t.Errorf("%+v", e)
	}
	told := ""
	for _, e := range n.Disk.Of(memory.KindGap) {
		told += e.Reason + "\n"
	}
	for _, want := range []string{`"half.jpg": unreadable file: jpeg: its end is missing`, `"film.mp4": unreadable file: neither WAV`} {
		if !strings.Contains(told, want) {
			t.Errorf("no gap says %s: %s", want, told)
		}
	}

	// Another start sends nothing twice.
	before := len(audio)
	b = n.Bridge(t, state, files.Family, folder)
	newest := b.When(`"last.txt" is with the node`)
	stop = b.Start(t)
	put(t, dir, "last.txt", []byte("Good night."))
	carrytest.Await(t, newest)
	stop()
	if got := len(n.Disk.Of(memory.KindAudio)); got != before || len(b.Told("file")) != 1 {
		t.Errorf("%d pieces of sound, %v", got, b.Told("file"))
	}
	if _, err := (&link.Folder{Dir: filepath.Join(dir, "none")}).Connect(t.Context()); err == nil {
		t.Error("a folder that is not there is watched")
	}
}
