package files_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/files"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

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

// What comes into a folder reaches the node once, whole, and with its time.
func TestFolder(t *testing.T) {
	dir, n, state := t.TempDir(), carrytest.NewNode(t), carrytest.StatePath(t)
	jpeg := read(t, files.Day+"astronaut.jpg")
	large := append(bytes.TrimSuffix(read(t, files.Day+"cat.jpg"), []byte{0xff, 0xd9}), append(make([]byte, 1<<20), 0xff, 0xd9)...)
	ogg := filepath.Join(t.TempDir(), "memo.ogg")
	if out, err := exec.Command("opusenc", "--quiet", files.Recordings+"jfk.wav", ogg).CombinedOutput(); err != nil {
		t.Fatalf("opusenc: install opus-tools (%v: %s)", err, out)
	}
	put(t, dir, "memo.wav", read(t, files.Recordings+"jfk.wav"))
	put(t, dir, "synced/memo copy.wav", read(t, files.Recordings+"jfk.wav"))
	put(t, dir, "memo.ogg", read(t, ogg))
	put(t, dir, "a.jpg", files.Tagged(jpeg))
	put(t, dir, "b.jpg", large)
	put(t, dir, "memo.m4a", files.AAC(t))
	put(t, dir, "synced/memo copy.m4a", read(t, filepath.Join(dir, "memo.m4a")))
	put(t, dir, "z.heic", files.HEIC(t))
	put(t, dir, "half.jpg", jpeg[:len(jpeg)-1000])
	put(t, dir, "note.txt", []byte("\ufeffThe dentist is on Tuesday.\r\n"))
	put(t, dir, "film.mp4", []byte("\x00\x00\x00\x18ftypmp42"))
	put(t, dir, ".hidden.txt", []byte("hidden"))
	put(t, dir, ".git/config", []byte("hidden"))
	put(t, dir, "photo.jpg.crdownload", []byte("half of it"))
	put(t, dir, "empty.txt", nil)
	was := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	for _, name := range []string{"memo.ogg", "memo.m4a", "synced/memo copy.m4a"} {
		if err := os.Chtimes(filepath.Join(dir, name), was, was); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	folder := &link.Folder{Dir: dir, Every: 10 * time.Millisecond, SettleTime: 30 * time.Millisecond}

	b := n.Bridge(t, state, files.Family, folder)
	later := b.NoteWith(`"later.txt" is with the node`)
	stop := b.Start(t)
	count := func(kind memory.Kind) int { return len(carrytest.OfKind(n.Disk.Events, kind)) }
	n.Disk.Until(t, "all files", func() bool {
		return count(memory.KindPhoto) == 4 && count(memory.KindAudio) == 5 && count(memory.KindText) == 1 && count(memory.KindLocation) == 2
	})
	// An incomplete photo is completed later.
	put(t, dir, "half.jpg", jpeg)
	n.Disk.Until(t, "the other half", func() bool { return count(memory.KindPhoto) == 5 })
	// In a pause files wait in their folder.
	n.In.SetPaused(true)
	for !b.Cfg.Client.Paused() {
		time.Sleep(time.Millisecond) // the client has no event for this; go test bounds the wait
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

	audio := n.Disk.OfKind(memory.KindAudio)
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
	if want := read(t, files.Recordings+"jfk.wav"); !bytes.HasSuffix(want, wav) || len(wav) < len(want)-100 || opus < 1000 || lasts != 3 {
		t.Errorf("%d bytes of samples, %d packets, %d ends", len(wav), opus, lasts)
	}
	photos := n.Disk.OfKind(memory.KindPhoto)
	at := time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)
	if e := photos[0]; !e.At.Equal(at) || e.Metadata[wire.MetaOrientation] != "90" || !bytes.Equal(e.Data, files.Tagged(jpeg)) {
		t.Errorf("%s, %v", e.At, e.Metadata)
	}
	if e := n.Disk.OfKind(memory.KindLocation)[0]; !e.At.Equal(at) || e.Place.Lat != 52.5 || e.Place.Lon != -13.25 {
		t.Errorf("%s, %+v", e.At, e.Place)
	}
	if !bytes.Equal(append(append([]byte(nil), photos[1].Data...), photos[2].Data...), large) || photos[2].ID.Seq != photos[1].ID.Seq+1 || photos[2].Metadata[wire.MetaParts] != "2" {
		t.Errorf("%+v", photos[2].ID)
	}
	if !bytes.Equal(photos[4].Data, jpeg) {
		t.Error("the half that became whole is another")
	}
	if e := n.Disk.OfKind(memory.KindText); e[0].Text != "The dentist is on Tuesday." || e[1].Text != "It was sunny." {
		t.Errorf("%+v", e)
	}
	told := ""
	for _, e := range n.Disk.OfKind(memory.KindGap) {
		told += e.Reason + "\n"
	}
	for _, want := range []string{`"half.jpg": unreadable file: jpeg: its end is missing`, `"film.mp4": m4a: unreadable file: box at offset 0: "ftyp" says 24 bytes, 12 are left: its end is missing`} {
		if !strings.Contains(told, want) {
			t.Errorf("no gap says %s: %s", want, told)
		}
	}

	// A restart sends nothing twice.
	before := len(audio)
	b = n.Bridge(t, state, files.Family, folder)
	newest := b.NoteWith(`"last.txt" is with the node`)
	stop = b.Start(t)
	put(t, dir, "last.txt", []byte("Good night."))
	carrytest.Await(t, newest)
	stop()
	if got := len(n.Disk.OfKind(memory.KindAudio)); got != before || len(b.Notes("file")) != 1 {
		t.Errorf("%d pieces of sound, %v", got, b.Notes("file"))
	}
	if _, err := (&link.Folder{Dir: filepath.Join(dir, "none")}).Connect(t.Context()); err == nil {
		t.Error("a folder that is not there is watched")
	}
}

// While the network costs by the byte, notes are sent, even those behind a large file that waits in
// the folder.
func TestMetered(t *testing.T) {
	dir, n, state := t.TempDir(), carrytest.NewNode(t), carrytest.StatePath(t)
	put(t, dir, "c.txt", []byte("The dentist is on Tuesday."))
	put(t, dir, "b.wav", read(t, files.Recordings+"jfk.wav"))
	b := n.Bridge(t, state, files.Family, &link.Folder{Dir: dir, Every: 10 * time.Millisecond, SettleTime: 30 * time.Millisecond})
	var costly atomic.Bool
	costly.Store(true)
	b.Cfg.Options.Metered = func(context.Context) bool { return costly.Load() }
	waits, note, sent := b.NoteWith("waits: recordings and photos"), b.NoteWith(`"c.txt" is with the node`), b.NoteWith(`"b.wav" is with the node`)
	stop := b.Start(t)
	carrytest.Await(t, waits)
	carrytest.Await(t, note)
	if got := n.Disk.OfKind(memory.KindText); len(got) != 1 {
		t.Errorf("%d notes", len(got))
	}
	if got := n.Disk.OfKind(memory.KindAudio); len(got) != 0 {
		t.Errorf("%d pieces of sound", len(got))
	}
	costly.Store(false)
	carrytest.Await(t, sent)
	stop()
}
