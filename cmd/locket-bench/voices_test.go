package main

import (
	"os/exec"
	"testing"
)

// Voices are told apart better than by assigning all speech to one, and worse than perfectly.
func TestVoices(t *testing.T) {
	if _, err := exec.LookPath("espeak-ng"); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := bench(t, "voices", "--voices", "8", "--json")
	if code != 0 {
		t.Fatal(stderr)
	}
	got := readResults(t, "voices", stdout)
	if r := got["diarisation_error_espeak"]; r.Value >= got["one_speaker_espeak"].Value {
		t.Errorf("%+v", r)
	}
	if r := got["voice_eer_espeak"]; r.Value > 25 || r.N < 20 {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"diarisation_error", "one_speaker", "voice_eer"} {
		if got[name].N < 3 {
			t.Errorf("%s: %+v", name, got[name])
		}
	}
}
