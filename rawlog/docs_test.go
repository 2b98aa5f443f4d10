package rawlog

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docTable is a table as docs/raw-log.md shows it.
func docTable(t *Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\nA row is %s.\n\n| column | type | null | meaning |\n|---|---|---|---|\n", t.Name, t.Doc)
	for _, c := range t.Columns {
		null := ""
		if c.Optional {
			null = "yes"
		}
		typ := map[Type]string{Int64: "int64", Int32: "int32", String: "string"}[c.Type]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, typ, null, c.Doc)
	}
	return b.String()
}

func TestDocumentHoldsTheTables(t *testing.T) {
	body, err := os.ReadFile("../docs/raw-log.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(body)
	for _, table := range Tables {
		want := docTable(table)
		from := strings.Index(doc, "### "+table.Name+"\n")
		if from < 0 {
			t.Errorf("docs/raw-log.md has no table %s; it is\n%s", table.Name, want)
			continue
		}
		if !strings.HasPrefix(doc[from:], want+"\n") {
			t.Errorf("docs/raw-log.md: the table %s is not that of schema.go, which is\n%s", table.Name, want)
		}
	}
	if n := strings.Count(doc, "\n| column | type |"); n != len(Tables) {
		t.Errorf("docs/raw-log.md has %d tables of columns, the schema %d", n, len(Tables))
	}
}

// The SQL in the document is what the test of interop/duckdb runs.
func TestDocumentHoldsTheSQL(t *testing.T) {
	body, err := os.ReadFile("../docs/raw-log.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"steps.sql", "percentiles.sql"} {
		sql, err := os.ReadFile("../interop/duckdb/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(body), "```sql\n"+string(sql)+"```\n") {
			t.Errorf("docs/raw-log.md does not hold interop/duckdb/%s as it is", file)
		}
	}
}
