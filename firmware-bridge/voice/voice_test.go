package voice

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/extract/sound"
)

// Spoken text is loud sound of a sentence's length, and the packets have the same sound.
func TestSpeak(t *testing.T) {
	const text = "Your dentist appointment is on Tuesday at four."
	pcm, err := Speak(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	seconds := float64(len(pcm)) / 2 / Rate
	if seconds < 1.5 || seconds > 6 {
		t.Errorf("%.1f s", seconds)
	}
	packets, err := Opus(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	var d sound.Decoder
	samples, loud := 0, 0
	for _, p := range packets {
		got, err := d.Decode("opus", 16000, p)
		if err != nil {
			t.Fatal(err)
		}
		samples += len(got)
		for _, s := range got {
			if s > 3000 || s < -3000 {
				loud++
			}
		}
	}
	if got := float64(samples) / sound.Rate; got < seconds-.1 || got > seconds+.2 || loud < samples/50 {
		t.Errorf("%.2f s of packets for %.2f s, %d of %d samples are loud", got, seconds, loud, samples)
	}
	if zh, err := Speak(t.Context(), "牙医在星期二。"); err != nil || len(zh) < Rate {
		t.Errorf("%d bytes, %v", len(zh), err)
	}
	if odd, err := Speak(t.Context(), "-v nothing --help"); err != nil || len(odd) < Rate { // it is a text, not an option
		t.Errorf("%d bytes, %v", len(odd), err)
	}
}

func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Speak(t.Context(), "x"); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "espeak-ng") {
		t.Error(err)
	}
}
