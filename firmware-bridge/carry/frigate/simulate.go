package frigate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// simulate makes a house with two cameras, up to the current time. Each object comes, moves and
// goes; one in five is a false positive and gets no end. Frigate publishes with QoS 0, so what a
// link loses does not come again.
func simulate(p carry.Play) link.Dialer {
	r := rand.New(rand.NewPCG(p.Seed, 3))
	q := &link.Queue{HalfwayEnds: p.Reboot, AtMostOnce: true, Retained: []link.Notification{{Char: "frigate/available", Data: []byte("online")}}}
	n := cmp.Or(p.Amount, 24)
	add := func(kind string, after map[string]any) {
		b, err := json.Marshal(map[string]any{"type": kind, "before": after, "after": after})
		if err != nil {
			panic(err) // a map of texts and numbers can't fail
		}
		q.Messages = append(q.Messages, link.Notification{Char: "frigate/events", Data: b})
	}
	if len(p.Day) > 0 {
		n = 0
	}
	for _, s := range p.Day { // each photo is a camera's picture of somebody
		start := float64(s.At.Add(p.ClockOff).UnixMilli()) / 1000
		after := map[string]any{
			"id": fmt.Sprintf("%.6f-%06x", start, r.IntN(1<<24)), "camera": "front_door", "label": "person", "start_time": start, "end_time": nil,
			"sub_label": nil, "entered_zones": []string{}, "false_positive": false, "has_snapshot": true,
		}
		add("new", after)
		q.Messages = append(q.Messages, link.Notification{Char: "frigate/front_door/person/snapshot", Data: s.Data})
		after["end_time"] = start + 20
		add("end", after)
	}
	for i := range n {
		start := float64(time.Now().Add(p.ClockOff+time.Duration(i-n)*10*time.Minute).UnixMilli()) / 1000
		after := map[string]any{
			"id":     fmt.Sprintf("%.6f-%06x", start, r.IntN(1<<24)),
			"camera": []string{"front_door", "garden"}[r.IntN(2)], "label": []string{"person", "car", "cat"}[r.IntN(3)],
			"start_time": start, "end_time": nil, "sub_label": nil, "entered_zones": []string{}, "false_positive": false, "has_snapshot": false,
		}
		add("new", after)
		for range r.IntN(4) {
			after["entered_zones"] = []string{"driveway"}
			add("update", after)
		}
		if i%5 == 4 {
			after["false_positive"] = true
			add("update", after)
			continue
		}
		after["end_time"] = start + float64(5+r.IntN(300))
		add("end", after)
	}
	return q
}
