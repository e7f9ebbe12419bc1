package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en"
	chromem "github.com/philippgille/chromem-go"
	_ "modernc.org/sqlite"
)

type bleveFinder struct {
	dir      string
	analyzer string
	index    bleve.Index
}

func (f *bleveFinder) build(_ context.Context, lines []line) (err error) {
	m := bleve.NewIndexMapping()
	m.DefaultAnalyzer = f.analyzer
	field := bleve.NewTextFieldMapping()
	field.Analyzer, field.Store, field.IncludeTermVectors, field.IncludeInAll = f.analyzer, false, false, false
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt("text", field)
	m.DefaultMapping = doc
	m.DefaultField = "text"
	if f.index, err = bleve.New(filepath.Join(f.dir, "bleve"), m); err != nil {
		return err
	}
	b := f.index.NewBatch()
	for i, l := range lines {
		if err := b.Index(strconv.Itoa(i), map[string]string{"text": l.speaker + ": " + l.text}); err != nil {
			return err
		}
		if b.Size() == 1000 || i == len(lines)-1 {
			if err := f.index.Batch(b); err != nil {
				return err
			}
			b.Reset()
		}
	}
	return nil
}

func (f *bleveFinder) open(context.Context) (err error) {
	f.index, err = bleve.Open(filepath.Join(f.dir, "bleve"))
	return err
}

func (f *bleveFinder) find(ctx context.Context, text string, k int) ([]int, error) {
	q := bleve.NewMatchQuery(text)
	q.SetField("text")
	r, err := f.index.SearchInContext(ctx, bleve.NewSearchRequestOptions(q, k, 0, false))
	if err != nil {
		return nil, err
	}
	var out []int
	for _, h := range r.Hits {
		out = append(out, lineNumber(h.ID))
	}
	return out, nil
}

func (f *bleveFinder) close() error { return f.index.Close() }

type chromemFinder struct{ lines *chromem.Collection }

func (f *chromemFinder) build(ctx context.Context, lines []line) (err error) {
	if f.lines, err = chromem.NewDB().CreateCollection("lines", nil, embed); err != nil {
		return err
	}
	docs := make([]chromem.Document, len(lines))
	for i, l := range lines {
		docs[i] = chromem.Document{ID: strconv.Itoa(i), Content: l.speaker + ": " + l.text}
	}
	return f.lines.AddDocuments(ctx, docs, 1)
}

func (f *chromemFinder) open(context.Context) error { return nil }

func (f *chromemFinder) find(ctx context.Context, text string, k int) ([]int, error) {
	r, err := f.lines.Query(ctx, text, k, nil, nil)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, h := range r {
		out = append(out, lineNumber(h.ID))
	}
	return out, nil
}

func (f *chromemFinder) close() error { return nil }

type sqliteFinder struct {
	dir  string
	db   *sql.DB
	stmt *sql.Stmt
}

func (f *sqliteFinder) build(ctx context.Context, lines []line) error {
	if err := f.connect(); err != nil {
		return err
	}
	if _, err := f.db.ExecContext(ctx, `PRAGMA journal_mode=WAL; CREATE VIRTUAL TABLE lines USING fts5(text, content='', tokenize='porter unicode61')`); err != nil {
		return err
	}
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i, l := range lines {
		if _, err := tx.ExecContext(ctx, `INSERT INTO lines(rowid, text) VALUES (?, ?)`, i+1, l.speaker+": "+l.text); err != nil {
			tx.Rollback()
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if _, err := f.db.ExecContext(ctx, `INSERT INTO lines(lines) VALUES ('optimize'); PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return err
	}
	return f.prepare(ctx)
}

func (f *sqliteFinder) connect() (err error) {
	f.db, err = sql.Open("sqlite", filepath.Join(f.dir, "lines.db"))
	if err == nil {
		f.db.SetMaxOpenConns(1)
	}
	return err
}

func (f *sqliteFinder) prepare(ctx context.Context) (err error) {
	f.stmt, err = f.db.PrepareContext(ctx, `SELECT rowid FROM lines WHERE lines MATCH ? ORDER BY rank LIMIT ?`)
	return err
}

func (f *sqliteFinder) open(ctx context.Context) error {
	if err := f.connect(); err != nil {
		return err
	}
	return f.prepare(ctx)
}

func (f *sqliteFinder) find(ctx context.Context, text string, k int) ([]int, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	rows, err := f.stmt.QueryContext(ctx, `"`+strings.Join(words, `" OR "`)+`"`, k)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id-1)
	}
	return out, rows.Err()
}

func (f *sqliteFinder) close() error { return f.db.Close() }
