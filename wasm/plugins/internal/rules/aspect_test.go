package rules

import "testing"

// TestAspect checks that a note about something that took place or will take place is an episode,
// and that one about a state, or one that lasted for years, is not.
func TestAspect(t *testing.T) {
	for line, want := range map[string]string{
		"I've never been to Scotland, isn't that awful, it's only an hour up the road.":     "semantic",
		"I have never made a tiered cake in my life.":                                       "semantic",
		"We were at uni together, in Bristol, she was in the room next door in first year.": "semantic",
		"We had a dog called Sixten who ate an entire Christmas ham when I was little.":     "semantic",
		"I've been grey since I was thirty.":                                                "semantic",
		"My brother Nils, he's got three girls, and they go to the village school.":         "semantic",
		"We're gonna take Scout, Toby and Buddy to a park near here.":                       "episodic",
		"I'm thinking of moving to Spain.":                                                  "episodic",
		"We're considering adopting a rescue dog.":                                          "episodic",
		"Suzanne with the horses has sold up and bought a bar in Fuerteventura.":            "episodic",
		"I'd love to learn to surf.":                                                        "semantic",
		"My sister is worried about her exam.":                                              "semantic",
		"The surveyor is coming back to check the roof.":                                    "episodic",
		"We're swapping our energy supplier before winter.":                                 "episodic",
		"The plumber fitted a new stopcock under the sink.":                                 "episodic",
		"Dad was in the navy for twenty years.":                                             "semantic",
		"Our house was built in 1894.":                                                      "semantic",
		"The tap in the kitchen is leaking into the cupboard.":                              "semantic",
		"我在考虑换工作。":                                                                          "episodic",
		"我姐在找工作。":                                                                           "episodic",
		"我一直想学冲浪。":                                                                          "semantic",
	} {
		out := hear(t, line)
		found := false
		for i := range out.Candidates {
			if c := &out.Candidates[i]; c.Kind == "noted" {
				found = true
				if c.Type != want {
					t.Errorf("%s: %s, want %s", line, c.Type, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: no note of %q", line, keys(out))
		}
	}
}
