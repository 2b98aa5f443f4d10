package main

import (
	"bytes"
	"errors"
	"fmt"

	"queuebench/analysis"
	"queuebench/report"
)

// session is one opened run.
type session struct {
	digest *analysis.Digest
}

// open reads a digest, not compressed.
func (s *session) open(data []byte) error {
	d, err := analysis.ReadDigest(bytes.NewReader(data))
	if err != nil {
		return err
	}
	s.digest = d
	return nil
}

// view draws the run under a fragment of an address, figures width CSS pixels
// wide.
func (s *session) view(fragment string, width int) (report.Document, error) {
	if s.digest == nil {
		return report.Document{}, errors.New("no run is open")
	}
	v, err := analysis.ParseFragment(fragment)
	if err != nil {
		return report.Document{}, err
	}
	return report.Build(s.digest, v, report.Options{Width: min(max(width, 320), 1100)})
}

// guard turns a panic into an error.
func guard(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the analyzer failed at this input, which is an error of Queuebench (%v); `analyze` reads the run natively", r)
		}
	}()
	return do()
}
