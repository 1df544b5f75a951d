#version 450
// Shows an image twice: the upper half of the picture is level 0, the lower half is a floor that
// repeats it and runs to the horizon, so that far texels come from the smaller levels.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform sampler2D image;
layout(binding = 1) writeonly buffer Picture { uint texels[]; } picture;
layout(push_constant) uniform Size { uvec2 size; } push;

void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= push.size.x || at.y >= push.size.y)
        return;
    uint horizon = push.size.y / 2;
    vec4 colour;
    if (at.y < horizon) {
        colour = textureLod(image, (vec2(at) + 0.5) / vec2(push.size.x, horizon), 0.0);
    } else {
        // The floor's depth grows as 1 / (rows below the horizon), and so does a step to the right.
        float depth = float(horizon) / (float(at.y - horizon) + 0.5);
        float right = (float(at.x) + 0.5) / float(push.size.x) - 0.5;
        vec2 place = vec2(right, 1.0) * depth;
        // Texels between neighbours, along the row and to the next row: the mean decides the level.
        vec2 step = vec2(textureSize(image, 0)) / vec2(push.size.x, horizon) * depth;
        step.y *= depth;
        colour = textureLod(image, place, 0.5 * log2(step.x * step.y));
    }
    picture.texels[at.y * push.size.x + at.x] = packUnorm4x8(colour);
}
