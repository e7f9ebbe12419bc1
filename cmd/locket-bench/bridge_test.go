package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// Every figure of the bridge is there, and the answers to presses are right.
func TestBridge(t *testing.T) {
	var out, said bytes.Buffer
	if code := run(t.Context(), []string{"bridge", "--minutes", "1", "--events", "5", "--questions", "5", "--seconds", "3", "--json", "--cache", cache}, &out, &said); code != 0 {
		t.Fatalf("%d: %s", code, said.String())
	}
	got := map[string]float64{}
	for d := json.NewDecoder(&out); d.More(); {
		var r result
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		got[r.Case] = r.Value
		if peer := map[string]string{"decoded_per_s_omi": "opusdec", "decoded_per_s_xiaozhi": "opusdec", "decoded_per_s_g1": "dlc3"}[r.Case]; peer != r.Peer || peer != "" && r.PeerValue <= 0 {
			t.Errorf("%s stands beside %q, %v", r.Case, r.Peer, r.PeerValue)
		}
	}
	if lost, ok := got["lost_8_devices"]; !ok || lost != 0 {
		t.Errorf("%v are lost", lost)
	}
	for _, want := range []string{"frames_per_s_omi", "frames_per_s_xiaozhi", "frames_per_s_wyoming", "frames_per_s_brilliant", "frames_per_s_g1", "cpu_s_per_audio_hour_g1", "decoded_per_s_omi", "decoded_per_s_xiaozhi", "decoded_per_s_g1", "spool_events_per_s", "rss_8_devices", "cores_8_devices", "press_to_answer_p95"} {
		if got[want] <= 0 {
			t.Errorf("%s: %v", want, got[want])
		}
	}
}
