package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"github.com/locket-dev/locket/memory/category"
)

// CategoriesFile is the name of the wearer's own categories, in the home.
const CategoriesFile = "categories.toml"

// Categories reads a file of categories, one table each:
//
//	[garden]
//	words = ["tomato", "compost heap", "番茄"]
//	attributes = ["owns"]
//
// They are sorted by name. If there is no file, there are none, and that is no
// error. Errors wrap [ErrConfig].
func Categories(path string) ([]category.Category, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	var tables map[string]struct {
		Words      []string `toml:"words"`
		Attributes []string `toml:"attributes"`
	}
	dec := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := dec.Decode(&tables); err != nil {
		if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
			err = fmt.Errorf("line %d: %v: a category has words and attributes", firstRow(strict), strict.Errors[0].Key())
		} else if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, _ := wrong.Position()
			err = fmt.Errorf("line %d: %w", row, err)
		}
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, path, err)
	}
	list := []category.Category{}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		list = append(list, category.Category{Name: name, Words: tables[name].Words, Attributes: tables[name].Attributes})
	}
	return list, nil
}

func firstRow(e *toml.StrictMissingError) int {
	row, _ := e.Errors[0].Position()
	return row
}
