package edit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// What the users of an app say is of each of them: under their own name, with no part of what
// another user said before, and kept even if another user said the same a moment ago.
func TestUsersOfAnApp(t *testing.T) {
	n := nodetest.New(t, nil)
	api := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	defer api.Close()
	for _, user := range []string{"", "bea", "carl"} {
		for _, text := range []string{"My sister's name is Nora.", "My dentist appointment is on Friday at nine."} {
			if _, err := api.Add(t.Context(), serve.AddRequest{Text: text, User: user}); err != nil {
				t.Fatal(err)
			}
		}
	}
	page, err := api.List(t.Context(), serve.ListQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	for _, m := range page.Memories {
		text, _, _ := strings.Cut(m.Text, " (") // without the date of that Friday
		said[m.Owner.User] = append(said[m.Owner.User], text)
	}
	for user, want := range map[string][]string{
		memory.WearerUser: {"Ana's dentist appointment is on Friday at nine", "Nora is Ana's sister."},
		"bea":             {"Bea's dentist appointment is on Friday at nine", "Nora is bea's sister."},
		"carl":            {"Carl's dentist appointment is on Friday at nine", "Nora is carl's sister."},
	} {
		slices.Sort(said[user])
		if !slices.Equal(said[user], want) {
			t.Errorf("%s: %q, want %q", user, said[user], want)
		}
	}
}

// The same words at the same moment are two lines if they are kept for two agents.
func TestAgentsHearTheSame(t *testing.T) {
	n := nodetest.New(t, nil)
	api := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	defer api.Close()
	at := time.Now()
	for _, agent := range []string{"", "one", "two"} {
		res, err := api.Add(t.Context(), serve.AddRequest{Text: "My sister's name is Nora.", Agent: agent, At: at})
		if err != nil || len(res.Changes) == 0 {
			t.Errorf("%q: %+v, %v", agent, res, err)
		}
	}
}
