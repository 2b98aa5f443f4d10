package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// input is what the pipeline takes from a message.
type input struct {
	value int64
	id    []byte
}

// decoder reads inputs.
type decoder func(message []byte) (input, error)

// jsonInputs reads objects with a whole number and a text.
func jsonInputs(value, id string) decoder {
	return func(message []byte) (in input, err error) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(message, &fields); err != nil {
			return in, err
		}
		if err := json.Unmarshal(fields[value], &in.value); err != nil {
			return in, fmt.Errorf("field %q: %w", value, err)
		}
		var text string
		if err := json.Unmarshal(fields[id], &text); err != nil {
			return in, fmt.Errorf("field %q: %w", id, err)
		}
		in.id = []byte(text)
		return in, nil
	}
}

// delimitedInputs reads lines whose columns the header line names.
func delimitedInputs(header []byte, delimiter rune, value, id string) (decoder, error) {
	names, err := splitLine(header, delimiter)
	if err != nil {
		return nil, fmt.Errorf("header line %q: %w", header, err)
	}
	v, i := slices.Index(names, value), slices.Index(names, id)
	if v < 0 || i < 0 {
		return nil, fmt.Errorf("header line %q has no columns %q and %q", header, value, id)
	}
	return func(message []byte) (in input, err error) {
		fields, err := splitLine(message, delimiter)
		if err != nil {
			return in, err
		}
		if len(fields) != len(names) {
			return in, fmt.Errorf("%d fields, and %d columns", len(fields), len(names))
		}
		in.value, err = strconv.ParseInt(fields[v], 10, 64)
		in.id = []byte(fields[i])
		return in, err
	}, nil
}

func splitLine(line []byte, delimiter rune) ([]string, error) {
	r := csv.NewReader(bytes.NewReader(line))
	r.Comma = delimiter
	return r.Read()
}
