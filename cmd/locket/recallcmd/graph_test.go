package recallcmd

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/node/config"
)

func TestGraphInWords(t *testing.T) {
	var id memory.ID
	var b strings.Builder
	a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "Asia/Shanghai"}}}
	showGraph(a, &b, &atlas.View{Entities: []atlas.Entry{{ID: "a", Name: "王芳", Memories: 1}, {ID: "b", Name: "Ghent", Memories: 2}},
		Relations: []atlas.Relation{{Subject: "a", Predicate: "home", Object: "b", Memory: id, TrueFrom: time.Date(2026, 9, 13, 16, 0, 0, 0, time.UTC)}}})
	want := "王芳" + strings.Repeat(" ", 38) + "1 memory\nGhent" + strings.Repeat(" ", 37) + "2 memories\n\n" + cli.ShortID(id) + "  王芳 -- home -- Ghent, from 2026-09-14\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}
