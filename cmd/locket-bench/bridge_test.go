package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// The suite prints every figure of the bridge, and the answers to presses are right.
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
		if peer := map[string]string{"decoded_per_s_omi": "opusdec", "decoded_per_s_limitless": "opusdec", "decoded_per_s_xiaozhi": "opusdec", "decoded_per_s_g1": "dlc3", "decoded_per_s_friend": "dlc3", "decoded_per_s_halo": "dlc3"}[r.Case]; peer != r.Peer || peer != "" && r.PeerValue <= 0 {
			t.Errorf("%s stands beside %q, %v", r.Case, r.Peer, r.PeerValue)
		}
	}
	if lost, ok := got["lost_8_devices"]; !ok || lost != 0 {
		t.Errorf("%v are lost", lost)
	}
	want := []string{"spool_events_per_s", "rss_8_devices", "cores_8_devices", "cores_of_node", "behind_8_devices", "press_to_answer_p95"}
	for _, family := range []string{"omi", "limitless", "xiaozhi", "wyoming", "brilliant", "g1", "friend", "halo"} {
		want = append(want, "frames_per_s_"+family, "cpu_s_per_audio_hour_"+family)
	}
	for _, family := range []string{"omi", "limitless", "xiaozhi", "g1", "friend", "halo"} {
		want = append(want, "decoded_per_s_"+family)
	}
	for _, want := range want {
		if got[want] <= 0 {
			t.Errorf("%s: %v", want, got[want])
		}
	}
}
