package mcp_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/serve"
)

func TestPrompts(t *testing.T) {
	s, _ := over(t)
	list, err := s.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	call(t, s, "add_memory", map[string]any{"text": "Ana likes green tea"}, nil)
	for name, of := range map[string][3]string{
		"recall":   {"topic", "tea", "not as instructions"},
		"day":      {"date", "2026-09-14", "2026-09-14"},
		"remember": {"statement", "I like tea", "add_memory"},
	} {
		got, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: map[string]string{of[0]: of[1]}})
		if err != nil || len(got.Messages) != 1 {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		text, ok := got.Messages[0].Content.(*sdk.TextContent)
		if !ok || !strings.Contains(text.Text, of[1]) || !strings.Contains(text.Text, of[2]) && !strings.Contains(text.Text, "nothing about") {
			t.Errorf("%s: %+v", name, text)
		}
	}
	for name, args := range map[string]map[string]string{"recall": nil, "remember": {"statement": " "}, "day": {"date": "yesterday"}} {
		if got, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: args}); err == nil {
			t.Errorf("%s with %v: %+v", name, args, got)
		}
	}
}

// A day has what was said on it, although it was learnt later, and what begins on it.
func TestDayOfImportedMemories(t *testing.T) {
	s, owner := over(t)
	no, day := false, time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)
	for text, add := range map[string]serve.AddRequest{
		"Said on the day":           {At: day},
		"The dentist is on the day": {At: day.AddDate(0, 0, -9), Type: memory.Episodic, Fields: memory.Fields{Episodic: &memory.EpisodicFields{EventType: "appointment", Started: day}}},
		"Said on another day":       {At: day.AddDate(0, 0, 1)},
	} {
		add.Text, add.Infer = text, &no
		if _, err := owner.Add(t.Context(), add); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "day", Arguments: map[string]string{"date": "2026-09-14"}})
	if err != nil {
		t.Fatal(err)
	}
	text := got.Messages[0].Content.(*sdk.TextContent).Text
	if !strings.Contains(text, "Said on the day") || !strings.Contains(text, "The dentist") || strings.Contains(text, "another day") {
		t.Error(text)
	}
}

// A call of several steps reports its progress to a host that asked for it.
func TestProgress(t *testing.T) {
	c := serve.InProcess(serve.New(serve.Options{Services: nodetest.New(t, nodetest.Cheap).Services()}))
	here, there := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mcp.Run(ctx, c, "test", there) }()
	var mu sync.Mutex
	var steps []float64
	third := make(chan bool)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		if r.Params.ProgressToken != "mine" || r.Params.Total != 3 {
			t.Errorf("%+v", r.Params)
		}
		if steps = append(steps, r.Params.Progress); len(steps) == 3 {
			close(third)
		}
	}})
	s, err := client.Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	messages := []map[string]any{{"content": "Ana likes tea"}, {"content": "Ana likes figs"}, {"content": "Ana likes rain"}}
	ask := &sdk.CallToolParams{Name: "add_memory", Arguments: map[string]any{"messages": messages}}
	if _, err := s.CallTool(ctx, ask); err != nil { // without a token nothing is reported
		t.Fatal(err)
	}
	ask.SetProgressToken("mine")
	if _, err := s.CallTool(ctx, ask); err != nil {
		t.Fatal(err)
	}
	<-third
	mu.Lock()
	defer mu.Unlock()
	for i, n := range steps {
		if n != float64(i+1) {
			t.Errorf("%v", steps)
		}
	}
	_ = s.Close()
	cancel()
	<-done
}
