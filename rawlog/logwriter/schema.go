package logwriter

import (
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"queuebench/rawlog"
)

// schemaOf is the Parquet schema of a table, its columns in their order. It is
// made by way of a struct type since parquet.Group would sort them by name.
func schemaOf(t *rawlog.Table) *parquet.Schema {
	types := map[rawlog.Type]reflect.Type{
		rawlog.Int64: reflect.TypeFor[int64](), rawlog.Int32: reflect.TypeFor[int32](), rawlog.String: reflect.TypeFor[string](),
	}
	fields := make([]reflect.StructField, len(t.Columns))
	for i, c := range t.Columns {
		encoding := "delta"
		if c.Type == rawlog.String {
			encoding = "dict"
		}
		tag := c.Name + "," + encoding
		if c.Optional {
			tag += ",optional"
		}
		fields[i] = reflect.StructField{
			Name: fmt.Sprintf("F%d", i),
			Type: types[c.Type],
			Tag:  reflect.StructTag(fmt.Sprintf(`parquet:%q`, tag)),
		}
	}
	row := reflect.New(reflect.StructOf(fields)).Interface()
	return parquet.NewSchema(t.Name, parquet.SchemaOf(row))
}
