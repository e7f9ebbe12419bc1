package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

func TestSpeechSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "speech", "--takes", "1", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if !strings.Contains(stderr, "webrtcvad_js") {
		t.Errorf("it does not say that WebRTC's detector was left out: %q", stderr)
	}
	got := readResults(t, "speech", stdout)
	for _, snr := range []string{"20db", "10db", "5db", "0db"} {
		for _, c := range []string{"f1_" + snr, "f1_white_" + snr, "f1_pink_" + snr, "f1_babble_" + snr, "f1_music_" + snr} {
			if r := got[c]; r.Value <= 0 || r.Value > 1 || r.Peer != "energy" || r.N == 0 {
				t.Errorf("%s: %+v", c, r)
			}
		}
		if r := got["false_alarms_"+snr+"_worst"]; r.Value < 0 || r.Value > 100 || !strings.HasPrefix(r.Note, "in ") {
			t.Errorf("false alarms at %s: %+v", snr, r)
		}
	}
	if got["f1_20db"].Value < 0.9 || got["f1_20db_of_recordings"].Value < 0.9 {
		t.Errorf("at 20 dB: %+v", got["f1_20db"])
	}
	if s := got["speech"].Value; s < 49.5 || s > 50.5 {
		t.Errorf("%v %% is speech, want half", s)
	}
	if code, _, _ := bench(t, "speech", "--takes", "-1"); code != 2 {
		t.Errorf("exit %d", code)
	}
	if _, err := exec.LookPath("node"); err == nil {
		if code, _, stderr := bench(t, "speech", "--takes", "1", "--webrtc", t.TempDir()); code != 1 || !strings.Contains(stderr, "webrtcvad_js") {
			t.Errorf("an empty folder: exit %d, %q", code, stderr)
		}
	}
}

func TestFrameCount(t *testing.T) {
	var c frameCount
	for i, v := range []string{"hit", "hit", "hit", "missed", "alarm", "alarm", "quiet", "quiet", "quiet", "quiet"} {
		c.add(v == "hit" || v == "alarm", i < 4)
	}
	got := fmt.Sprintf("%.3f %.3f %.3f %.3f", c.precision(), c.recall(), c.f1(), c.alarms())
	if want := "0.600 0.750 0.667 0.333"; got != want {
		t.Errorf("precision, recall, F1, alarms: %s, want %s", got, want)
	}
	if c := (frameCount{}); c.f1() != 0 || c.alarms() != 0 {
		t.Errorf("of nothing: %+v", c)
	}
}
