package edit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Correcting the text of a memory also corrects the value of its slot and the
// object of its relation.
func TestValueFollowsText(t *testing.T) {
	n := nodetest.New(t, nil)
	api := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	defer api.Close()
	ctx := t.Context()
	res, err := api.Add(ctx, serve.AddRequest{Text: "My brother Klaus lives in Hamburg"})
	if err != nil {
		t.Fatal(err)
	}
	var home memory.ID
	for _, c := range res.Changes {
		if m, err := api.Get(ctx, c.Memory.String()); err == nil && m.Slot != nil && m.Slot.Value == "Hamburg" {
			home = m.ID
		}
	}
	if home.IsZero() {
		t.Fatalf("%+v", res.Changes)
	}
	for _, tt := range []struct {
		why  string
		r    serve.UpdateRequest
		want string
	}{
		{"other words in its place", serve.UpdateRequest{Replace: &serve.Replacement{Old: "Hamburg", With: "Bonn"}}, "Bonn"},
		{"a text that says more", serve.UpdateRequest{Replace: &serve.Replacement{Old: "Klaus lives", With: "Klaus now lives"}}, "Bonn"},
		{"a value of its own", serve.UpdateRequest{Value: new("Mainz")}, "Mainz"},
		{"another text", serve.UpdateRequest{Text: new("He moved to Kiel, Klaus did")}, "Mainz"},
	} {
		m, err := api.Update(ctx, home.String(), tt.r)
		if err != nil || m.Slot == nil || m.Slot.Value != tt.want || m.Fields.Semantic.Object != tt.want {
			t.Errorf("%s: %+v, %+v, %v", tt.why, m.Slot, m.Fields.Semantic, err)
			continue
		}
		if tt.r.Text == nil && !strings.Contains(m.Text, tt.want) {
			t.Errorf("%s: %s", tt.why, m.Text)
		}
		if names := fmt.Sprint(m.Entities); !strings.Contains(names, "Klaus") || !strings.Contains(names, tt.want) || strings.Contains(names, "Hamburg") {
			t.Errorf("%s: entities %s", tt.why, names)
		}
	}
}

// A fact that is called by its value has the new value as its name.
func TestNameFollowsText(t *testing.T) {
	n := nodetest.New(t, nil)
	api := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	defer api.Close()
	res, err := api.Add(t.Context(), serve.AddRequest{Text: "My favourite tea is Lapsang Souchong"})
	if err != nil || len(res.Changes) == 0 {
		t.Fatal(res, err)
	}
	m, err := api.Update(t.Context(), res.Changes[0].Memory.String(), serve.UpdateRequest{Replace: &serve.Replacement{Old: "Lapsang Souchong", With: "Sencha"}})
	if f := m.Fields.Semantic; err != nil || f == nil || f.Object != "Sencha" || f.Name != "Sencha" {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestEventFollowsText corrects the text, and then the value, of plans: both move the event.
func TestEventFollowsText(t *testing.T) {
	n := nodetest.New(t, nil)
	api := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	defer api.Close()
	zone, err := time.LoadLocation(nodetest.Config(t).Zone)
	if err != nil {
		t.Fatal(err)
	}
	// plan hears a line, and returns the plan that it makes.
	plan := func(said string) (m memory.Memory) {
		res, err := api.Add(t.Context(), serve.AddRequest{Text: said})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range res.Changes {
			if m, err = api.Get(t.Context(), c.Memory.String()); err == nil && m.Fields.Episodic != nil && m.Slot != nil {
				return m
			}
		}
		t.Fatalf("%s: %+v", said, res.Changes)
		return m
	}
	// update changes the plan, and looks at its value and time.
	update := func(m *memory.Memory, r serve.UpdateRequest, value string) {
		t.Helper()
		is, err := api.Update(t.Context(), m.ID.String(), r)
		if err != nil {
			t.Errorf("%q: %v", m.Text, err)
			return
		}
		at, err := time.ParseInLocation("2006-01-02 15:04", value, zone)
		if err != nil {
			at, err = time.ParseInLocation("2006-01-02", value, zone)
		}
		if err != nil || is.Slot.Value != value || !is.Fields.Episodic.Started.Equal(at) {
			t.Errorf("%q, slot %+v, at %s: now %q, slot %+v, at %s; want %s", m.Text, m.Slot, m.Fields.Episodic.Started, is.Text, is.Slot, is.Fields.Episodic.Started, value)
		}
	}
	dentist := plan("I have a dentist appointment on 4 December 2041 at 3 pm")
	update(&dentist, serve.UpdateRequest{Text: new("Ana has a dentist appointment on 7 December 2041 at 10:30.")}, "2041-12-07 10:30")
	update(&dentist, serve.UpdateRequest{Text: &dentist.Text}, "2041-12-04 15:00") // undo
	update(&dentist, serve.UpdateRequest{Value: new("2041-11-30 09:00")}, "2041-11-30 09:00")

	passport := plan("I have to renew my passport")
	update(&passport, serve.UpdateRequest{Text: new("Ana has to renew the passport by 3 May 2041.")}, "2041-05-03")

	lawyer := plan("我下周三下午三点去见律师")
	day := lawyer.Fields.Episodic.Started.In(zone).AddDate(0, 0, 1)
	update(&lawyer, serve.UpdateRequest{Text: new("Ana下周四下午四点（" + day.Format("2006年1月2日") + "星期四 16:00）去见律师。")}, day.Format(time.DateOnly)+" 16:00")
}
