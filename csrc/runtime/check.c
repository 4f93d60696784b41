// Checks whether a variant allows a call. The messages contain the value that was passed, what is allowed, and what
// to do.
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "job.h"

// Appends an item to a list in a buffer, and truncates it if it does not fit.
static void add(char *text, size_t size, const char *separator, const char *item) {
    size_t used = strlen(text);
    if (used + 1 < size) snprintf(text + used, size - used, "%s%s", used ? separator : "", item);
}

const ck_variant *ck_find_variant(const ck_operation *operation, const char *name, ck_error *error) {
    for (int i = 0; i < operation->variant_count; i++)
        if (strcmp(operation->variants[i].name, name) == 0) return &operation->variants[i];
    char known[600] = ""; // initialized only here, because every call on host arrays runs the lines above
    for (int i = 0; i < operation->variant_count; i++) add(known, sizeof known, ", ", operation->variants[i].name);
    ck_fail(error, CK_BAD_VALUE, "%s has no variant '%.64s'. Available: %s", operation->name, name, known);
    return NULL;
}

static int is_allowed(const ck_parameter *parameter, int64_t value) {
    if (value == parameter->fallback) return 1;
    if (parameter->choice_count == 0)
        return value >= parameter->low && value <= parameter->high &&
               (parameter->step <= 1 || (value - parameter->low) % parameter->step == 0);
    for (int i = 0; i < parameter->choice_count; i++)
        if (parameter->choices[i] == value) return 1;
    return 0;
}

static void say_allowed(const ck_parameter *parameter, char *text, size_t size) {
    char item[96];
    *text = '\0';
    for (int i = 0; i < parameter->choice_count; i++) {
        snprintf(item, sizeof item, "%lld", (long long)parameter->choices[i]);
        add(text, size, ", ", item);
    }
    if (parameter->choice_count > 0) return;
    snprintf(text, size, "%lld to %lld", (long long)parameter->low, (long long)parameter->high);
    if (parameter->step > 1) {
        snprintf(item, sizeof item, "in steps of %lld", (long long)parameter->step);
        add(text, size, " ", item);
    }
}

int ck_check_parameters(const ck_operation *operation, const ck_variant *variant, const int64_t *values, int count,
                        int64_t *filled, ck_error *error) {
    int known = 0;
    for (; known < CK_MAX_PARAMETERS && variant->parameters[known].name != NULL; known++) {
        const ck_parameter *parameter = &variant->parameters[known];
        filled[known] = known < count ? values[known] : parameter->fallback;
        if (is_allowed(parameter, filled[known])) continue;
        char allowed[400];
        say_allowed(parameter, allowed, sizeof allowed);
        return ck_fail(error, CK_BAD_VALUE, "%s=%lld is not allowed for %s '%s'. Allowed: %s%s%s%s", parameter->name,
                       (long long)filled[known], operation->name, variant->name, allowed, parameter->unit ? " (" : "",
                       parameter->unit ? parameter->unit : "", parameter->unit ? ")" : "");
    }
    if (count > known)
        return ck_fail(error, CK_BAD_VALUE, "%s '%s' has %d parameters, but %d were passed", operation->name,
                       variant->name, known, count);
    return CK_OK;
}

// True if all inputs have the candidate's type.
static int all_are(const int *inputs, int count, const ck_types *candidate) {
    for (int k = 0; k < count; k++)
        if (inputs[k] != candidate->input) return 0;
    return 1;
}

int ck_check_types(const ck_operation *operation, const ck_variant *variant, const int *inputs, int count, int output,
                   ck_types *types, ck_error *error) {
    int known = 0;
    for (; known < CK_MAX_TYPES && variant->types[known].input >= 0; known++) {
        const ck_types *candidate = &variant->types[known];
        if (all_are(inputs, count, candidate) && (output < 0 || output == candidate->output)) {
            *types = *candidate;
            return CK_OK;
        }
    }
    char listed[600] = "", outputs[120] = "", got[160] = "",
         item[64]; // initialized only here, because every call on host arrays runs the lines above
    for (int i = 0; i < known; i++) {
        const ck_types *candidate = &variant->types[i];
        if (all_are(inputs, count, candidate)) add(outputs, sizeof outputs, " or ", ck_dtype_name(candidate->output));
        if (candidate->output == candidate->input)
            snprintf(item, sizeof item, "%s", ck_dtype_name(candidate->input));
        else
            snprintf(item, sizeof item, "%s (result %s)", ck_dtype_name(candidate->input),
                     ck_dtype_name(candidate->output));
        add(listed, sizeof listed, ", ", item);
    }
    for (int k = 0; k < count; k++) add(got, sizeof got, " and ", ck_dtype_name(inputs[k]));
    if (*outputs)
        return ck_fail(error, CK_BAD_TYPE,
                       "the result of %s '%s' with %s is %s, but the output that was passed is %s", operation->name,
                       variant->name, got, outputs, ck_dtype_name(output));
    return ck_fail(error, CK_BAD_TYPE,
                   "%s '%s' does not support %s. It supports %s%s. Convert with .astype(), or use variant=\"auto\"",
                   operation->name, variant->name, got, *listed ? listed : "no type",
                   count > 1 ? ", the same for all inputs" : "");
}

int ck_check_device(const ck_operation *operation, const ck_variant *variant, const ck_limits *limits,
                    ck_error *error) {
    const unsigned here = backend_is_emulated() ? CK_ON_EMULATOR : CK_ON_CUDA;
    if ((variant->backends & here) == 0 || variant->run == NULL || variant->plan == NULL) {
        char others[64] = "";
        if (variant->backends & CK_ON_CUDA) add(others, sizeof others, ", ", "cuda");
        if (variant->backends & CK_ON_EMULATOR) add(others, sizeof others, ", ", "emulator");
        return ck_fail(error, CK_NOT_SUPPORTED, "%s '%s' does not run on the backend %s, only on %s", operation->name,
                       variant->name, backend_name(), others);
    }
    const int wrong = variant->capability_exact ? limits->capability != variant->capability
                                                : limits->capability < variant->capability;
    if (wrong)
        return ck_fail(error, CK_NOT_SUPPORTED,
                       "%s '%s' needs a device of capability %d.%d%s, but device %d has %d.%d", operation->name,
                       variant->name, variant->capability / 10, variant->capability % 10,
                       variant->capability_exact ? " exactly" : " or later", limits->device, limits->capability / 10,
                       limits->capability % 10);
    if (variant->capability_exact && !limits->exact)
        return ck_fail(error, CK_NOT_SUPPORTED,
                       "%s '%s' needs code for capability %d.%da, which this build does not contain; add %da to "
                       "CUDAKERN_CUDA_ARCHS and rebuild",
                       operation->name, variant->name, variant->capability / 10, variant->capability % 10,
                       variant->capability);
    if ((variant->traits & CK_COOPERATIVE) && !limits->cooperative)
        return ck_fail(error, CK_NOT_SUPPORTED,
                       "%s '%s' needs cooperative launches, which device %d does not support", operation->name,
                       variant->name, limits->device);
    return CK_OK;
}
