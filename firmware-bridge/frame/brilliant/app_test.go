package brilliant

import (
	"bytes"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// lua runs a program in Lua 5.3, the glasses' version.
func lua(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("lua5.3", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("lua5.3 (of Debian): %v\n%s", err, out)
	}
	return string(out)
}

// The lines of the upload, run one after the other and some of them twice, write the app's file,
// whatever the size of a write.
func TestUpload(t *testing.T) {
	for _, most := range []int{160, 244, 511} {
		dir := t.TempDir()
		program := "frame={file={open=function(n,m)return io.open('" + dir + "/'..n,m)end}}\n"
		var want strings.Builder
		for i, l := range Upload(most) {
			program += l.Source + "\n"
			want.WriteString(l.Answer + "\n")
			if i%3 == 0 && i > 0 {
				program += l.Source + "\n"
				want.WriteString(l.Answer + "\n")
			}
		}
		program += Ask().Source + "\n"
		want.WriteString(Ask().Answer + "\n")
		file := filepath.Join(dir, "upload.lua")
		if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := lua(t, file); got != want.String() {
			t.Errorf("%d: printed\n%s", most, got)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "locket.lua")); err != nil || string(got) != mark()+"\n"+app {
			t.Errorf("%d: %d bytes of %d, %v", most, len(got), len(app), err)
		}
	}
}

// The app hears, takes a photo, and shows a text that takes several writes; the codec can read what
// it sends.
func TestApp(t *testing.T) {
	for name, how := range map[string]byte{"samples": 1, "LC3": 2} {
		t.Run(name, func(t *testing.T) { runApp(t, how) })
	}
}

func runApp(t *testing.T, how byte) {
	text := "The dentist is on Tuesday.\n" + strings.Repeat("x", 300)
	var in strings.Builder
	for _, list := range [][][]byte{Message(Listen, []byte{how}, 244), Message(Photo, []byte{1}, 244), Message(Show, []byte(text), 244)} {
		for _, b := range list {
			in.WriteString(hex.EncodeToString(b) + "\n")
		}
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte(in.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := lua(t, "testdata/glasses.lua", "app.lua", script)
	var sound, photo, shown []byte
	var size, taps, motions int
	levels := 0
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if rest, ok := strings.CutPrefix(line, "text "); ok {
			_, s, _ := strings.Cut(rest, " ")
			shown = append(shown, s+"\n"...)
			continue
		}
		b, err := hex.DecodeString(line)
		if err != nil {
			continue // printed text
		}
		item, err := Parse(b)
		switch i := item.(type) {
		case Sound:
			sound = append(sound, i...)
		case Chunk:
			photo = append(photo, i...)
		case Size:
			size = int(i)
		case Tap:
			taps++
		case Motion:
			if motions++; i != (Motion{[3]float64{100, -200, 300}, [3]float64{-1, 0, 4096}, false}) {
				t.Errorf("%+v", i)
			}
		case Battery:
			if levels++; i != 87 {
				t.Errorf("%d %%", i)
			}
		case PhotoEnd:
		default:
			t.Errorf("%s: %T, %v", line, item, err)
		}
	}
	if !strings.Contains(out, Started+"\n") || !bytes.Equal(sound, bytes.Repeat([]byte{1, 2}, 500)) || len(photo) != 1000 || size != 1000 || taps != 1 || motions < 2 || levels != 1 {
		t.Errorf("%d bytes of sound, a photo of %d of %d, %d taps, %d motions, %d levels\n%s", len(sound), len(photo), size, taps, motions, levels, out)
	}
	if want := text + "\n \n"; string(shown) != want { // the text is removed again
		t.Errorf("shown %q", shown)
	}
}

// When the microphone is turned off, the app sends the end of the sound. Its buffered samples do
// not come with the next sound.
func TestMicrophoneOff(t *testing.T) {
	var in strings.Builder
	for _, how := range []byte{2, 2, 0, 0, 1} { // a repeated command changes nothing
		in.WriteString(hex.EncodeToString(Message(Listen, []byte{how}, 244)[0]) + "\n")
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte(in.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	sound, ends := 0, 0
	for line := range strings.Lines(lua(t, "testdata/glasses.lua", "app.lua", script)) {
		b, err := hex.DecodeString(strings.TrimRight(line, "\n"))
		if err != nil {
			continue
		}
		switch item, _ := Parse(b); i := item.(type) {
		case Sound:
			sound += len(i)
		case SoundEnd:
			ends++
		}
	}
	if sound != 480 || ends != 1 { // two pieces before it is turned off, and 520 bytes that are dropped
		t.Errorf("%d bytes of sound, %d ends", sound, ends)
	}
}
