/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_ids.c: a tree of IDs, and a list of refs that waits for the end of the document.
 *
 * An ID may come after what refers to it, so only at the end is a ref known to be wrong.
 */
#include "check_ids.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#define E(element) SCHEMA_BIT(SCHEMA_##element)

/* What a ref may lead to; other elements' refs may lead anywhere. */
static const struct {
    enum schema_element from;
    uint32_t to;
    const char *words;
} targets[] = {
    {SCHEMA_TABLE, E(TABLE), "a TABLE"},
    {SCHEMA_FIELDREF, E(FIELD), "a FIELD"},
    {SCHEMA_PARAMREF, E(PARAM), "a PARAM"},
    {SCHEMA_VALUES, E(VALUES), "a VALUES"},
    {SCHEMA_FIELD, E(COOSYS) | E(TIMESYS) | E(GROUP) | E(FIELD) | E(PARAM),
     "a COOSYS, TIMESYS, GROUP, FIELD or PARAM"},
    {SCHEMA_PARAM, E(COOSYS) | E(TIMESYS) | E(GROUP) | E(FIELD) | E(PARAM),
     "a COOSYS, TIMESYS, GROUP, FIELD or PARAM"},
};

static int compare(const void *a, const void *b) {
    const struct check_id *one = a;
    const struct check_id *other = b;
    return strcmp(one->name, other->name);
}

static void id_free(void *node) {
    struct check_id *id = node;
    check_fields_finish(&id->fields);
    free(id->name);
    free(id);
}

struct check_id *check_ids_add(struct check_ids *ids, struct findings *findings,
                               const char *name, enum schema_element element, uint64_t lineno) {
    struct check_id *id = calloc(1, sizeof(*id));
    if (id == NULL)
        goto no_memory;
    id->name = strdup(name);
    if (id->name == NULL)
        goto no_memory;
    id->element = element;
    id->lineno = lineno;
    struct check_id **found = tsearch(id, &ids->tree, compare);
    if (found == NULL)
        goto no_memory;
    if (*found == id)
        return id;
    findings_add(findings, FINDING_R01, lineno, element, NULL,
                 "%s has the ID '%.60s', which the %s of line %llu has, give it another",
                 schema_element_name(element), name, schema_element_name((*found)->element),
                 (unsigned long long)(*found)->lineno);
    id_free(id);
    return NULL;
no_memory:
    if (id != NULL)
        id_free(id);
    ids->no_memory = true;
    return NULL;
}

void check_ids_refer(struct check_ids *ids, const char *name, enum schema_element from,
                     uint64_t lineno) {
    if (ids->ref_count == ids->ref_room) {
        size_t room = ids->ref_room == 0 ? 64 : ids->ref_room * 2;
        struct check_ref *grown = reallocarray(ids->refs, room, sizeof(*grown));
        if (grown == NULL) {
            ids->no_memory = true;
            return;
        }
        ids->refs = grown;
        ids->ref_room = room;
    }
    char *copy = strdup(name);
    if (copy == NULL) {
        ids->no_memory = true;
        return;
    }
    ids->refs[ids->ref_count++] = (struct check_ref){copy, from, lineno};
}

struct check_id *check_ids_find(struct check_ids *ids, const char *name) {
    char *key = strdup(name);
    if (key == NULL) {
        ids->no_memory = true;
        return NULL;
    }
    struct check_id wanted = {.name = key};
    struct check_id **found = tfind(&wanted, &ids->tree, compare);
    free(key);
    return found != NULL ? *found : NULL;
}

static void resolve(struct check_ids *ids, struct findings *findings,
                    const struct check_ref *ref) {
    const char *from = schema_element_name(ref->from);
    struct check_id *id = check_ids_find(ids, ref->name);
    if (id == NULL) {
        findings_add(findings, FINDING_R02, ref->lineno, ref->from, NULL,
                     "%s refers to '%.60s', and no element has that ID, correct the ref or "
                     "add the element",
                     from, ref->name);
        return;
    }
    id->used = true;
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        if (targets[i].from != ref->from || (targets[i].to & SCHEMA_BIT(id->element)) != 0)
            continue;
        findings_add(findings, FINDING_R03, ref->lineno, ref->from, NULL,
                     "%s refers to '%.60s', which is a %s, where it takes %s", from, ref->name,
                     schema_element_name(id->element), targets[i].words);
    }
}

static void tell_unused(const void *node, VISIT visit, void *closure) {
    const struct check_id *id = *(const struct check_id *const *)node;
    if ((visit != postorder && visit != leaf) || id->used || id->element != SCHEMA_TIMESYS)
        return;
    findings_add(closure, FINDING_R05, id->lineno, SCHEMA_TIMESYS, NULL,
                 "TIMESYS '%.60s' is referred to by nothing, add a ref to the FIELDs of its "
                 "times",
                 id->name);
}

void check_ids_resolve(struct check_ids *ids, struct findings *findings) {
    for (size_t i = 0; i < ids->ref_count; i++)
        resolve(ids, findings, &ids->refs[i]);
    twalk_r(ids->tree, tell_unused, findings);
}

void check_ids_finish(struct check_ids *ids) {
    for (size_t i = 0; i < ids->ref_count; i++)
        free(ids->refs[i].name);
    free(ids->refs);
    tdestroy(ids->tree, id_free);
    *ids = (struct check_ids){0};
}
